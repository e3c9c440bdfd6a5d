"""Speaking and listening at once: how the two halves of a call begin and end together, and when to give up.

Refuses to know what is said.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from duet_client.errors import DuetError, SessionLost, Stalled

Event = TypeVar("Event")


async def duplex(speaking: Coroutine[Any, Any, None], listening: Coroutine[Any, Any, None]) -> bool:
    """Run both until `listening` ends, which ends `speaking` too.

    A connection that ends is reported by `listening`, which sees everything that came before.

    Returns:
        Whether `speaking` had come to its end by then.

    Raises:
        DuetError: the first one of either.
    """
    failure: DuetError | None = None
    done = False
    try:
        async with asyncio.TaskGroup() as both:
            speaker = both.create_task(_until_lost(speaking))
            await listening
            done = not speaker.cancel()
    except* DuetError as group:
        failure = _first(group)
    finally:
        speaking.close()  # where listening ended before it could begin
    if failure is not None:
        raise failure
    return done


async def not_stalled(events: AsyncIterator[Event], stall_s: float) -> AsyncIterator[Event]:
    """The events, as long as none keeps us waiting for more than `stall_s`. Raises Stalled."""
    try:
        while True:
            async with asyncio.timeout(stall_s):
                event = await anext(events)
            yield event
    except StopAsyncIteration:
        return
    except TimeoutError:
        raise Stalled(f"the server said nothing for {stall_s:g} s") from None


async def _until_lost(speaking: Coroutine[Any, Any, None]) -> None:
    with suppress(SessionLost):
        await speaking


def _first(group: BaseExceptionGroup[DuetError]) -> DuetError:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
