"""Asking again, later and later, for what a server that is away will have when it is back.

Refuses to know what is asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import duet_client
from duet_client.wire import CloseCode

FIRST_DELAY_S, MOST_DELAY_S = 0.25, 15.0
_Result = TypeVar("_Result")


class Delay:
    """Seconds to wait before the next attempt, twice as long each time."""

    def __init__(self) -> None:
        self._next = FIRST_DELAY_S

    def reset(self) -> None:
        self._next = FIRST_DELAY_S

    async def wait(self) -> None:
        now, self._next = self._next, min(2 * self._next, MOST_DELAY_S)
        await asyncio.sleep(now)


def passes(error: Exception) -> bool:
    """Whether an error may be over after a while."""
    if isinstance(error, duet_client.SessionLost):
        return error.close_code != CloseCode.POLICY  # another transcriber took over
    refused = (duet_client.Unauthorized, duet_client.Forbidden, duet_client.NoSession)
    return isinstance(error, duet_client.ConnectError) and not isinstance(error, refused)


async def retried(ask: Callable[[], Awaitable[_Result]]) -> _Result:
    """What `ask` gives, once it gives anything. Raises what does not pass."""
    delay = Delay()
    while True:
        try:
            return await ask()
        except duet_client.DuetError as error:
            if not passes(error):
                raise
        await delay.wait()
