"""Activity to IPUs, and the time of two channels taken apart without a remainder."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from evals.intervals import Interval, Intervals, joined, total
from evals.segments import floor, ipus
from evals.thresholds import Thresholds

DURATION_S = 10.0


def spans(*pairs: tuple[float, float]) -> Intervals:
    return tuple(Interval(*pair) for pair in pairs)


def test_a_silence_of_200_ms_splits_and_a_shorter_one_does_not() -> None:
    found = ipus(spans((0, 1), (1.2, 2), (2.19, 3)), Thresholds())
    assert found == spans((0, 1), (1.2, 3))


def test_silence_between_one_speakers_ipus_is_a_pause_and_between_two_a_gap() -> None:
    found = floor(spans((1, 2), (3, 4)), spans((5, 6)), DURATION_S)
    assert found.pauses == spans((2, 3))
    assert found.gaps == spans((4, 5))
    assert found.edges == spans((0, 1), (6, 10))


def test_the_last_to_stop_decides_what_a_silence_is() -> None:
    found = floor(spans((1, 4), (5, 6)), spans((2, 3)), DURATION_S)
    assert (found.pauses, found.gaps, found.overlaps) == (spans((4, 5)), (), spans((2, 3)))


@pytest.mark.parametrize(
    ("user", "agent"),
    [(spans((1, 2), (3, 4)), spans((1.5, 2))), (spans((1, 2), (3, 4)), spans((3, 5)))],
)
def test_where_both_stop_or_start_at_once_it_is_a_gap(user: Intervals, agent: Intervals) -> None:
    for found in (floor(user, agent, DURATION_S), floor(agent, user, DURATION_S)):
        assert (found.pauses, found.gaps) == ((), spans((2, 3)))


def test_silence_all_through_is_one_edge() -> None:
    assert floor((), (), DURATION_S).edges == spans((0, 10))


_HOPS = st.lists(st.tuples(st.integers(0, 999), st.integers(1, 300)), max_size=12)


def _channel(found: list[tuple[int, int]]) -> Intervals:
    pairs = (Interval(at / 100, min(at + length, 1000) / 100) for at, length in found)
    return joined(pairs, Thresholds().ipu_gap_s)


@given(_HOPS, _HOPS)
def test_all_parts_always_add_up_to_the_duration(
    one: list[tuple[int, int]], two: list[tuple[int, int]]
) -> None:
    user, agent = _channel(one), _channel(two)
    found = floor(user, agent, DURATION_S)
    silence = total(found.pauses + found.gaps + found.edges)
    assert total(user + agent) - total(found.overlaps) + silence == pytest.approx(DURATION_S)


@given(_HOPS, _HOPS)
def test_who_is_called_user_makes_no_difference(
    one: list[tuple[int, int]], two: list[tuple[int, int]]
) -> None:
    user, agent = _channel(one), _channel(two)
    a, b = floor(user, agent, DURATION_S), floor(agent, user, DURATION_S)
    assert (a.pauses, a.gaps, a.edges, a.overlaps) == (b.pauses, b.gaps, b.edges, b.overlaps)
