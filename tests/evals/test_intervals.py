"""Arithmetic on stretches of time."""

from __future__ import annotations

import pytest

from evals.intervals import Interval, active_at, intersections, joined, starting_in, total, union


def test_an_interval_cannot_end_before_it_starts() -> None:
    with pytest.raises(ValueError, match="2 to 1"):
        Interval(2, 1)


def test_a_silence_of_exactly_the_limit_splits() -> None:
    spans = (Interval(0, 1), Interval(1.2, 2), Interval(2.199, 3))
    assert joined(spans, 0.2) == (Interval(0, 1), Interval(1.2, 3))


def test_a_limit_that_floats_cannot_hold_still_splits() -> None:
    assert len(joined((Interval(0, 0.1), Interval(0.1 + 0.2, 1)), 0.2)) == 2


def test_what_touches_is_one_and_what_is_inside_adds_nothing() -> None:
    assert union((Interval(0, 2), Interval(2, 3), Interval(0.5, 1))) == (Interval(0, 3),)


def test_every_pair_that_meets_meets_once() -> None:
    a = (Interval(0, 4), Interval(5, 9))
    b = (Interval(1, 2), Interval(3, 6), Interval(9, 10))
    found = intersections(a, b)
    assert found == (Interval(1, 2), Interval(3, 4), Interval(5, 6))
    assert total(found) == 3


def test_an_interval_holds_its_start_and_not_its_end() -> None:
    spans = (Interval(0, 1), Interval(1, 2))
    assert active_at(spans, 1.0) == Interval(1, 2)
    assert active_at(spans, 2.0) is None
    assert active_at((), 0.0) is None


def test_those_that_start_in_a_window_include_its_start_and_not_its_end() -> None:
    spans = tuple(Interval(n, n + 0.5) for n in range(5))
    assert list(starting_in(spans, 1, 3)) == [Interval(1, 1.5), Interval(2, 2.5)]
