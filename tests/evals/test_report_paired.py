"""Paired differences, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from evals.report.paired import bootstrap_interval, compare, holm, paired_difference, sign_flip_p


def test_holm_multiplies_the_smallest_p_by_all_the_next_by_one_less_and_never_goes_down() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_holm_never_exceeds_one_and_takes_none() -> None:
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_five_pairs_all_better_have_the_smallest_p_that_five_pairs_can_have() -> None:
    assert sign_flip_p(np.array([0.1, 0.2, 0.3, 0.4, 0.5])) == 2 / 32


def test_signs_that_cancel_are_no_evidence() -> None:
    assert sign_flip_p(np.array([1.0, -1.0])) == 1.0


def test_two_of_three_signs_are_counted_exactly() -> None:
    # The eight sums of signed 1, 1, 3 are 1, 3, 3 or 5 away from nought; the observed ones are 1 and 5.
    assert sign_flip_p(np.array([1.0, 1.0, -3.0])) == 1.0
    assert sign_flip_p(np.array([1.0, 1.0, 3.0])) == 2 / 8


def test_a_p_from_drawn_signs_is_small_for_a_clear_difference_and_never_nought() -> None:
    assert 0.0 < sign_flip_p(np.full(40, 0.1)) < 0.001


def test_the_interval_of_equal_differences_is_that_difference() -> None:
    assert bootstrap_interval(np.full(5, -0.15)) == pytest.approx((-0.15, -0.15))


def test_the_interval_holds_the_mean_and_is_the_same_every_time() -> None:
    steps = np.array([0.1, 0.3, -0.2, 0.4, 0.2])
    low, high = bootstrap_interval(steps)
    assert low < steps.mean() < high
    assert bootstrap_interval(steps) == (low, high)


def test_fewer_than_three_pairs_have_a_difference_and_no_test() -> None:
    found = paired_difference("stop_latency", np.array([0.6, 0.8]), np.array([0.5, 0.5]))
    assert found.difference == pytest.approx(0.2)
    assert (found.low, found.high, found.p, found.p_holm) == (None, None, None, None)


def test_only_conversations_of_both_runs_are_pairs() -> None:
    this = {"stop_latency": {"a": 1.0, "b": 2.0, "c": 3.0, "only here": 99.0}, "of one run": {"a": 1.0}}
    other = {"stop_latency": {"c": 2.5, "b": 1.5, "a": 0.5, "only there": 99.0}}
    (found,) = compare(this, other)
    assert (found.pairs, found.this, found.other) == (3, 2.0, 1.5)
    assert found.difference == pytest.approx(0.5)
    assert (found.p, found.p_holm) == (2 / 8, 2 / 8)


def test_every_metric_tested_makes_the_correction_harder() -> None:
    values = {"a": 1.0, "b": 2.0, "c": 3.0}
    lower = {name: value - 0.5 for name, value in values.items()}
    found = compare({"one": values, "two": values}, {"one": lower, "two": values})
    assert [one.p for one in found] == [2 / 8, 1.0]
    assert [one.p_holm for one in found] == [4 / 8, 1.0]
