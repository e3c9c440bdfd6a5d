"""When a newcomer is welcomed: laws on phases, in milliseconds worked out beforehand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.pacing import FRAME_S
from server.phases import SILENT_S, Phases, wait_s

NOW = 8_000.0
"""A moment whose phase is 0: a whole number of frames."""


def ms(*seconds: float) -> list[float]:
    return [round(1000 * value, 3) for value in seconds]


def taken(phases: Phases) -> list[float]:
    """Everybody's phase in milliseconds, sorted; what rounds to a whole frame is 0."""
    return sorted(value % 80 for value in ms(*(beat.phase for beat in phases.beats.values())))


def call(phases: Phases, name: str, lag_s: float = 0.0, now: float = NOW, frames: int = 1) -> None:
    """A client that begins to send when it is welcomed; its first frame is full 80 ms and the lag later."""
    welcomed = now + phases.welcome(name, now)
    for n in range(1, frames + 1):
        phases.came(name, welcomed + lag_s + n * FRAME_S)


@pytest.mark.parametrize(
    ("running_ms", "now_ms", "wait_ms"),
    [
        ([], 30, 0),
        ([0], 0, 40),
        ([0], 30, 10),
        ([0], 50, 70),  # the middle has just gone by
        ([0, 40], 0, 20),
        ([0, 40], 30, 30),  # as wide, and sooner than 20 of the next frame
        ([0, 10, 50], 0, 30),
        ([10, 70], 0, 40),
        ([20, 60, 40], 70, 10),  # from 60 over the frame's end to 20
        ([5, 5, 5], 45, 0),
    ],
)
def test_a_newcomer_is_put_into_the_middle_of_the_widest_gap(
    running_ms: list[int], now_ms: int, wait_ms: int
) -> None:
    wait = wait_s([value / 1000 for value in running_ms], NOW + now_ms / 1000)
    assert ms(wait % FRAME_S) == [wait_ms] or ms(wait - FRAME_S) == [wait_ms]


@given(st.lists(st.floats(0, FRAME_S), min_size=1, max_size=100), st.floats(0, 1e6))
def test_a_welcome_waits_less_than_a_frame_and_nobody_is_nearer_than_half_the_widest_gap(
    running: list[float], now: float
) -> None:
    wait = wait_s(running, now)
    assert 0 <= wait < FRAME_S
    ordered = sorted(phase % FRAME_S for phase in running)
    widest = max(after - before for before, after in pairwise([*ordered, ordered[0] + FRAME_S]))
    apart = ((now + wait - phase) % FRAME_S for phase in running)
    assert min(min(way, FRAME_S - way) for way in apart) >= widest / 2 - 2e-6


def test_a_lone_session_is_welcomed_at_once() -> None:
    phases = Phases(spreading=True)
    assert phases.welcome("a", NOW) == 0
    phases.left("a")
    assert phases.welcome("b", NOW) == 0


def test_newcomers_of_one_moment_are_welcomed_evenly_over_a_frame_before_any_has_sent() -> None:
    phases = Phases(spreading=True)
    assert ms(*(phases.welcome(name, NOW) for name in "abcdefgh")) == [0, 40, 20, 60, 10, 30, 50, 70]


def test_at_a_free_pace_nobody_waits() -> None:
    phases = Phases(spreading=False)
    for name in "abc":
        call(phases, name)
    assert [phases.welcome(name, NOW) for name in "de"] == [0, 0]


def test_who_left_makes_room() -> None:
    phases = Phases(spreading=True)
    for name in "abc":  # at 0, 40 and 20
        call(phases, name)
    phases.left("b")
    phases.left("b")
    phases.left("never here")
    assert ms(phases.welcome("d", NOW)) == [50]  # between 20 and 80


def test_who_is_silent_takes_no_room_until_it_speaks_again_and_then_where_it_does() -> None:
    phases = Phases(spreading=True)
    call(phases, "a")
    phases.welcome("never began", NOW)
    later = NOW + 2 * SILENT_S
    assert phases.welcome("b", later + 0.010) == 0
    phases.came("a", later + 0.030)
    assert taken(phases) == [10, 30, 40]


def test_a_phase_follows_its_arrivals_a_quarter_of_the_way_over_the_frames_end_too() -> None:
    phases = Phases(spreading=True)
    call(phases, "a")
    phases.came("a", NOW + 0.168)
    assert taken(phases) == [2]
    phases.came("a", NOW + 0.230)  # 70 is 12 before 2
    assert taken(phases) == [79]


@pytest.mark.parametrize("lag_ms", [0, 7, 20, 40, 65, 200])
def test_callers_one_after_another_are_spread_however_long_they_take_to_begin(lag_ms: int) -> None:
    phases = Phases(spreading=True)
    for n, name in enumerate("abcdefgh"):
        call(phases, name, lag_ms / 1000, NOW + 0.1 * n)
    assert taken(phases) == sorted((lag_ms + 10 * n) % 80 for n in range(8))


def test_who_sends_before_it_is_welcomed_keeps_its_phase_and_teaches_nothing() -> None:
    phases = Phases(spreading=True)
    call(phases, "a")
    assert ms(phases.welcome("hasty", NOW)) == [40]
    phases.came("hasty", NOW + 0.010)
    assert taken(phases) == [0, 10]
    assert ms(phases.welcome("b", NOW)) == [45]


def test_frames_of_a_session_that_was_not_welcomed_or_has_left_are_nobodys() -> None:
    phases = Phases(spreading=True)
    call(phases, "a")
    phases.left("a")
    phases.came("a", NOW)
    phases.came("b", NOW)
    assert phases.beats == {}
