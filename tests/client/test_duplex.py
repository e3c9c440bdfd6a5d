"""How the two halves of a call end together."""

from __future__ import annotations

import asyncio

import pytest

from duet_client.duplex import duplex
from duet_client.errors import DuetError, SessionLost


async def ends() -> None:
    pass


async def never() -> None:
    await asyncio.Event().wait()


async def fails(error: Exception) -> None:
    raise error


def test_listening_ends_the_call_and_tells_whether_all_was_said() -> None:
    async def a_moment() -> None:
        for _ in range(3):
            await asyncio.sleep(0)

    assert asyncio.run(duplex(ends(), a_moment())) is True
    assert asyncio.run(duplex(never(), a_moment())) is False


def test_a_lost_connection_is_reported_by_the_listener_alone() -> None:
    with pytest.raises(SessionLost, match="as heard"):
        asyncio.run(duplex(fails(SessionLost("as said", 1006)), fails(SessionLost("as heard", 1001))))


def test_any_other_failure_of_the_speaker_ends_the_call() -> None:
    with pytest.raises(DuetError, match="no more"):
        asyncio.run(duplex(fails(DuetError("no more")), never()))
