"""The load generator against a real server that is quick, and against one that misbehaves."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from duet_client.bench import BenchPlan, BenchResult, babble, measure
from tests.client.echo_server import NONE, EchoServer, Trouble

PLAN = BenchPlan(calls=2, seconds=1.0, late_max_ms=1e9, finish_s=0.2)  # a busy test machine is no matter


def bench(trouble: Trouble = NONE, plan: BenchPlan = PLAN) -> tuple[BenchResult, EchoServer]:
    async def run() -> tuple[BenchResult, EchoServer]:
        async with EchoServer(trouble).running() as server:
            return await measure(server.url, plan), server

    return asyncio.run(run())


def test_every_frame_of_every_call_is_answered_and_counted() -> None:
    result, server = bench()
    found = result.summary
    heard = [command for command in server.commands if isinstance(command, bytes)]
    assert result.problems == ()
    assert result.model == "echo"
    assert found.frames_sent == found.frames_received == len(heard)
    assert (found.deficits, found.surplus) == (0, 0)
    assert found.latency_ms.count >= 2 * 12  # a second holds 12 frames of each call
    assert {len(frame) for frame in heard} == {3840}


def test_a_frame_without_an_answer_is_a_deficit() -> None:
    result, _ = bench(Trouble(swallow=3))
    assert result.summary.deficits == 2  # one in each call
    assert result.valid


def test_answers_in_one_late_message_are_matched_to_their_frames() -> None:
    result, _ = bench(Trouble(late_as_one=True))
    found = result.summary
    assert found.deficits == 0
    assert found.latency_ms.max > 900.0  # the first frame waited for the whole second
    assert found.deadline_misses >= 2 * 10


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        (Trouble(full=True), "all 4 places are taken"),
        (Trouble(vanish_at=2), "connection ended"),
        (Trouble(repeat=2), "2 frames came back that were never sent"),
        (Trouble(deaf_to_close=True), r"no session.closed within 0\.2 s"),
    ],
)
def test_a_run_that_did_not_go_as_planned_is_not_valid_and_says_why(trouble: Trouble, why: str) -> None:
    result, _ = bench(trouble)
    assert not result.valid
    assert any(problem for problem in result.problems if why.replace("\\", "") in problem), result.problems


def test_a_load_generator_that_was_late_itself_is_not_believed() -> None:
    result, _ = bench(plan=BenchPlan(calls=1, seconds=1.0, late_max_ms=0.0))
    assert [problem[:27] for problem in result.problems] == ["the load generator was late"]


@pytest.mark.parametrize(
    ("calls", "seconds", "field"), [(0, 1.0, "calls"), (1, 0.5, "seconds"), (1, float("nan"), "seconds")]
)
def test_a_plan_that_measures_nothing_is_refused(calls: int, seconds: float, field: str) -> None:
    with pytest.raises(ValueError, match=field):
        BenchPlan(calls, seconds)


def test_audio_below_one_frame_is_refused() -> None:
    with pytest.raises(ValueError, match="1920 samples, not 100"):
        asyncio.run(measure("ws://localhost:1", PLAN, audio=np.zeros(100, np.int16)))


def test_the_babble_has_speech_and_pauses_and_is_the_same_every_time() -> None:
    first = babble()
    blocks = np.abs(first.reshape(-1, 2400).astype(np.int32)).max(axis=1)
    assert (blocks > 1000).sum() > 10
    assert (blocks == 0).sum() > 10
    assert np.array_equal(first, babble())
