"""The engine's thread: who is stepped, who gets what, and what survives a failure."""

from __future__ import annotations

import gc
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from audio.frames import FRAME_SAMPLES, silence
from model.config import ModelError, Sampling
from model.engine import Engine, EngineFull, FrameResult, InboxFull, StepReport, Ticket
from model.step_times import Bound
from tests.model.counting_runtime import CountingRuntime, Letters

WAIT_S = 60


def ignore(_: StepReport) -> None:
    pass


class Hall:
    """Collects the reports; a test waits for results, never for time."""

    def __init__(self, runtime: CountingRuntime) -> None:
        self.runtime = runtime
        self.reports: list[StepReport] = []
        self.results: queue.Queue[FrameResult] = queue.Queue()
        self.reported = threading.Semaphore(0)
        self.engine = Engine(runtime, Letters(), self._on_step)

    def _on_step(self, report: StepReport) -> None:
        self.reports.append(report)
        for result in report.results:
            self.results.put(result)
        self.reported.release()

    def take(self, n: int) -> list[FrameResult]:
        return [self.results.get(timeout=WAIT_S) for _ in range(n)]

    @contextmanager
    def step_held_back(self, ticket: Ticket) -> Iterator[None]:
        """Holds a step of `ticket` open while the body runs."""
        self.runtime.entered.clear()
        self.runtime.gate.clear()
        self.engine.submit(ticket, silence(), 0.0)
        assert self.runtime.entered.wait(WAIT_S)
        try:
            yield
        finally:
            self.runtime.gate.set()


@pytest.fixture
def hall() -> Iterator[Hall]:
    hall = Hall(CountingRuntime(3))
    hall.engine.start()
    hall.runtime.steps.clear()
    yield hall
    hall.runtime.gate.set()
    hall.engine.stop()


def test_every_frame_in_gets_exactly_one_frame_out_in_order(hall: Hall) -> None:
    ticket = hall.engine.join(Sampling(seed=2))
    for n in range(20):
        hall.engine.submit(ticket, silence(), float(n))
    results = hall.take(20)
    assert [r.frame for r in results] == list(range(20))
    assert [r.arrived for r in results] == [float(n) for n in range(20)]
    assert [float(r.pcm[0]) for r in results if r.pcm is not None] == [
        0.0,
        *(2000.0 + n for n in range(1, 20)),
    ]


def test_the_frames_before_the_models_lag_are_silence_without_a_token(hall: Hall) -> None:
    ticket = hall.engine.join(Sampling(seed=2))
    hall.engine.submit(ticket, silence(), 0.0)
    (first,) = hall.take(1)
    assert first.token == -1
    assert first.text == ""
    assert first.pcm is not None
    assert not first.pcm.any()


def test_bytes_of_a_character_make_one_text_when_it_is_whole(hall: Hall) -> None:
    ticket = hall.engine.join(Sampling())
    for _ in range(6):
        hall.engine.submit(ticket, silence(), 0.0)
    assert [r.text for r in hall.take(6)] == ["", " a", "b", "", "\u00e9", ""]


def test_frames_that_arrive_during_a_step_share_the_next_one_most_late_first(hall: Hall) -> None:
    a, b, c = (hall.engine.join(Sampling()) for _ in range(3))
    with hall.step_held_back(a):
        hall.engine.submit(c, silence(), 1.0)
        hall.engine.submit(b, silence(), 2.0)
        hall.engine.submit(a, silence(), 3.0)
        hall.engine.submit(b, silence(), 2.5)
    hall.take(5)
    assert hall.runtime.steps == [[a.slot], [c.slot, b.slot, a.slot], [b.slot]]


def test_a_result_made_for_a_session_that_left_reaches_nobody(hall: Hall) -> None:
    old = hall.engine.join(Sampling(seed=1))
    with hall.step_held_back(old):
        hall.engine.leave(old)
        new = hall.engine.join(Sampling(seed=9))
        assert new.slot == old.slot
        assert new.generation != old.generation
    hall.engine.submit(new, silence(), 5.0)
    hall.engine.submit(new, silence(), 6.0)
    results = hall.take(2)
    assert [(r.ticket, r.frame) for r in results] == [(new, 0), (new, 1)]
    assert results[1].pcm is not None
    assert float(results[1].pcm[0]) == 9001.0
    assert hall.results.empty()


def test_a_frame_on_a_stale_ticket_is_ignored(hall: Hall) -> None:
    old = hall.engine.join(Sampling())
    hall.engine.leave(old)
    new = hall.engine.join(Sampling())
    hall.engine.submit(old, silence(), 0.0)
    assert hall.engine.depth(new) == 0
    hall.engine.leave(old)  # frees nothing of the new owner's
    hall.engine.submit(new, silence(), 1.0)
    assert hall.take(1)[0].ticket == new


def test_a_full_engine_refuses_until_somebody_leaves(hall: Hall) -> None:
    tickets = [hall.engine.join(Sampling()) for _ in range(3)]
    with pytest.raises(EngineFull, match="all 3 slots"):
        hall.engine.join(Sampling())
    hall.engine.leave(tickets[1])
    assert hall.engine.join(Sampling()).slot == tickets[1].slot


def test_an_inbox_holds_two_seconds_and_no_frame_more(hall: Hall) -> None:
    ticket = hall.engine.join(Sampling())
    with hall.step_held_back(ticket):
        for _ in range(25):
            hall.engine.submit(ticket, silence(), 0.0)
        assert hall.engine.depth(ticket) == 25
        with pytest.raises(InboxFull, match="25"):
            hall.engine.submit(ticket, silence(), 0.0)
    assert len(hall.take(26)) == 26


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (np.zeros(FRAME_SAMPLES - 1, np.float32), "1920"),
        (np.full(FRAME_SAMPLES, np.nan, np.float32), "finite"),
        (np.full(FRAME_SAMPLES, np.inf, np.float32), "finite"),
    ],
)
def test_a_frame_that_is_not_one_is_refused(hall: Hall, frame: np.ndarray, words: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(ValueError, match=words):
        hall.engine.submit(hall.engine.join(Sampling()), frame, 0.0)


def test_a_failing_step_ends_its_own_sessions_and_the_engine_goes_on(hall: Hall) -> None:
    a, b = hall.engine.join(Sampling()), hall.engine.join(Sampling(seed=4))
    with hall.step_held_back(b):
        pass
    hall.take(1)
    hall.runtime.fail_steps = 1
    hall.engine.submit(a, silence(), 0.0)
    (broken,) = hall.take(1)
    assert broken.ticket == a
    assert broken.pcm is None
    assert broken.error == "model_error: the step failed"
    hall.engine.submit(a, silence(), 0.0)  # a dead ticket: ignored
    hall.engine.submit(b, silence(), 0.0)
    (fine,) = hall.take(1)
    assert (fine.ticket, fine.frame, fine.error) == (b, 1, None)
    assert hall.engine.failure is None


def test_a_session_whose_numbers_are_not_finite_ends_alone(hall: Hall) -> None:
    a, b = hall.engine.join(Sampling()), hall.engine.join(Sampling())
    hall.runtime.nan_rows = {a.slot}
    with hall.step_held_back(b):
        hall.engine.submit(a, silence(), 0.0)
        hall.engine.submit(b, silence(), 0.0)
    by_ticket = {r.ticket: r for r in hall.take(3)}
    assert by_ticket[a].error == "model_error: the model's output is not finite"
    assert by_ticket[b].error is None


def test_a_model_that_takes_nobody_in_any_more_ends_everyone_and_says_so(hall: Hall) -> None:
    a = hall.engine.join(Sampling())
    hall.engine.submit(a, silence(), 0.0)
    hall.take(1)
    hall.runtime.fail_joins = True
    b = hall.engine.join(Sampling())
    ended = hall.take(2)
    assert {r.ticket for r in ended} == {a, b}
    assert all(r.error == "model_error: the model broke down and takes no more sessions" for r in ended)
    assert hall.engine.failure == "the model broke down and takes no more sessions"
    with pytest.raises(ModelError, match="broke down"):
        hall.engine.join(Sampling())


def test_a_receiver_that_raises_does_not_stop_the_engine() -> None:
    answered = threading.Semaphore(0)

    def receive(_: StepReport) -> None:
        answered.release()
        raise RuntimeError("the hall is on fire")

    engine = Engine(CountingRuntime(1), Letters(), receive)
    engine.start()
    try:
        ticket = engine.join(Sampling())
        for _ in range(3):
            engine.submit(ticket, silence(), 0.0)
        for _ in range(3):
            assert answered.acquire(timeout=WAIT_S)
    finally:
        engine.stop()


def test_every_row_is_warmed_up_before_the_engine_is_started() -> None:
    hall = Hall(CountingRuntime(3))
    hall.engine.start()
    assert len(hall.runtime.steps) >= 4
    assert all(step == [0, 1, 2] for step in hall.runtime.steps)
    hall.engine.stop()


def test_a_search_for_garbage_does_not_look_at_the_model_while_it_serves() -> None:
    """Of the server's 330,000 objects it takes 170 ms, in which nobody is answered."""
    engine = Engine(CountingRuntime(1), Letters(), ignore)
    engine.start()
    assert gc.get_freeze_count() > 10_000
    engine.stop()
    assert gc.get_freeze_count() == 0


def test_an_engine_that_stops_leaves_the_model_of_another_out_of_the_search() -> None:
    running, stopped, never_started = (Engine(CountingRuntime(1), Letters(), ignore) for _ in range(3))
    running.start()
    stopped.start()
    for _ in range(2):
        stopped.stop()
    never_started.stop()
    assert gc.get_freeze_count() > 10_000
    running.stop()
    assert gc.get_freeze_count() == 0


def test_a_model_that_fails_its_warm_up_never_becomes_ready() -> None:
    runtime = CountingRuntime(1)
    runtime.fail_steps = 1
    with pytest.raises(ModelError, match="warm-up: the step broke"):
        Hall(runtime).engine.start()


def test_a_join_is_reported_with_what_it_cost(hall: Hall) -> None:
    hall.engine.join(Sampling())
    assert hall.reported.acquire(timeout=WAIT_S)
    assert [r.joined for r in hall.reports] == [1]
    assert hall.reports[0].join_s >= 0.0


def test_an_engine_on_the_clock_says_how_many_sessions_its_steps_are_quick_enough_for() -> None:
    runtime = CountingRuntime(8)
    runtime.seconds_a_row = 0.012
    engine = Engine(runtime, Letters(), ignore, step_budget_s=0.048)
    engine.start()
    engine.stop()
    assert engine.bound == Bound(4, "a step with 5 sessions takes 60 ms, the limit is 48 ms")


@pytest.mark.parametrize("budget_s", [None, 0.2])
def test_an_engine_that_is_quick_enough_or_has_no_clock_has_no_such_bound(budget_s: float | None) -> None:
    runtime = CountingRuntime(8)
    runtime.seconds_a_row = 0.012
    engine = Engine(runtime, Letters(), ignore, step_budget_s=budget_s)
    engine.start()
    engine.stop()
    assert engine.bound is None
