"""Across connections nothing is sent too few times, and what the server has is not sent again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from duet_client.wire import Channel, SidebandCommand, TranscriptAppend
from transcribe_sidecar.call import Progress
from transcribe_sidecar.engine import Report
from transcribe_sidecar.outbox import Outbox
from transcribe_sidecar.resume import Standing

FIRST, SECOND = TranscriptAppend("user", (), 1_000), TranscriptAppend("user", (), 2_000)


def report(*messages: SidebandCommand, done: bool = False, untold: int | None = None) -> Report:
    return Report(messages, Progress(10_000, {"user": untold, "agent": None}, done), "streaming", True)


def inside(scene: Callable[[Outbox], None]) -> None:
    async def run() -> None:
        scene(Outbox())

    asyncio.run(run())


def test_what_the_server_has_is_not_sent_again_and_the_rest_is() -> None:
    def scene(outbox: Outbox) -> None:
        outbox.take(report(FIRST, SECOND))
        standings: dict[Channel, Standing] = {"user": Standing((), 1_000), "agent": Standing()}
        outbox.acknowledge(standings)
        assert outbox.first == SECOND

    inside(scene)


def test_it_is_done_when_all_of_an_ended_call_was_sent() -> None:
    def scene(outbox: Outbox) -> None:
        outbox.take(report(FIRST, done=True))
        assert not outbox.done
        outbox.sent()
        assert outbox.done

    inside(scene)


def test_the_lag_is_the_age_of_the_speech_that_is_not_told() -> None:
    def scene(outbox: Outbox) -> None:
        assert outbox.lag(5_000).user_ms == 5_000  # nothing was heard yet
        outbox.take(report(untold=7_500))
        lag = outbox.lag(10_400)
        assert (lag.user_ms, lag.agent_ms) == (2_900, 400)

    inside(scene)
