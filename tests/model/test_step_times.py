"""How many sessions a measured step time allows."""

from __future__ import annotations

import pytest

from model.step_times import Bound, StepTimes, bound_of, ladder

TIMES = StepTimes(((1, 0.010), (2, 0.012), (4, 0.020), (8, 0.060)))


@pytest.mark.parametrize(
    ("rows", "seconds"), [(1, 0.010), (2, 0.012), (3, 0.016), (4, 0.020), (6, 0.040), (8, 0.060), (16, 0.120)]
)
def test_between_two_measurements_time_grows_evenly(rows: int, seconds: float) -> None:
    assert TIMES.seconds(rows) == pytest.approx(seconds)


@pytest.mark.parametrize(("budget_s", "rows"), [(0.060, 8), (0.048, 6), (0.020, 4), (0.0119, 1), (0.001, 1)])
def test_as_many_as_the_budget_allows_and_never_none(budget_s: float, rows: int) -> None:
    assert TIMES.most_rows(budget_s) == rows


def test_a_bound_names_the_first_step_that_would_be_too_long() -> None:
    assert bound_of(TIMES, 0.048) == Bound(6, "a step with 7 sessions takes 50 ms, the limit is 48 ms")
    assert bound_of(TIMES, 0.060) is None


@pytest.mark.parametrize(("capacity", "rows"), [(1, (1,)), (2, (1, 2)), (6, (1, 2, 4, 6)), (8, (1, 2, 4, 8))])
def test_measuring_doubles_up_to_the_capacity(capacity: int, rows: tuple[int, ...]) -> None:
    assert ladder(capacity) == rows
