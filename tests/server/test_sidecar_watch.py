"""When a sidecar counts as hung, and how long to wait before the next one."""

from __future__ import annotations

from server.sidecar_watch import Backoff, Patience, Watch

PATIENCE = Patience(hung=30, loading=120, check=1)


class Run:
    """One run of the sidecar, watched once a second."""

    def __init__(self) -> None:
        self.now, self.signs, self.frames = 0.0, 0, 0
        self.watch = Watch(PATIENCE, 0, 0, 0)

    def hung_after(self, seconds: int, frames: int, signs: int = 0) -> int | None:
        """Frames and signs each second; the second in which it counted as hung."""
        for second in range(1, seconds + 1):
            self.now += 1
            self.frames += frames
            self.signs += signs
            if self.watch.is_hung(self.now, self.signs, self.frames):
                return second
        return None


def test_while_calls_go_on_a_silent_sidecar_is_hung_after_half_a_minute() -> None:
    run = Run()
    assert run.hung_after(60, frames=12, signs=1) is None
    assert run.hung_after(60, frames=12) == 30


def test_many_calls_do_not_shorten_its_time() -> None:
    run = Run()
    run.hung_after(1, frames=0, signs=1)
    assert run.hung_after(60, frames=1_200) == 30


def test_where_nobody_calls_it_may_be_silent_for_hours_and_then_has_its_time() -> None:
    run = Run()
    run.hung_after(1, frames=0, signs=1)
    assert run.hung_after(10_000, frames=0) is None
    assert run.hung_after(60, frames=12) == 30


def test_one_that_loads_its_model_has_two_minutes() -> None:
    assert Run().hung_after(200, frames=12) == 120


def test_a_machine_that_slept_is_not_held_against_it() -> None:
    run = Run()
    run.hung_after(1, frames=12, signs=1)
    run.now += 3_600
    assert run.hung_after(60, frames=12) == 29  # the sleep counts as two seconds


def test_the_wait_doubles_up_to_its_longest() -> None:
    backoff = Backoff(PATIENCE)
    assert [backoff.after(0) for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_healthy_minute_starts_the_waits_anew() -> None:
    backoff = Backoff(PATIENCE)
    assert [backoff.after(ran) for ran in (0, 0, 59, 60, 0)] == [1, 2, 4, 1, 2]
