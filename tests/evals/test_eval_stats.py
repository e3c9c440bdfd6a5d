"""Intervals, quantiles and distances, with values worked out by hand."""

from __future__ import annotations

import math

import pytest

from evals.stats import bootstrap_ratio, jensen_shannon, quantile, stretched, wasserstein1


def test_a_quantile_lies_between_its_neighbours() -> None:
    assert quantile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.5
    assert quantile([0.0, 10.0], 0.9) == 9.0


def test_the_distance_of_a_shifted_sample_is_the_shift() -> None:
    sample = [0.1 * n for n in range(30)]
    assert wasserstein1(sample, [v + 0.3 for v in sample]) == pytest.approx(0.300)
    assert wasserstein1(sample, sample) == 0


def test_the_distance_does_not_mind_samples_of_other_sizes() -> None:
    assert wasserstein1([0.0, 1.0], [0.0, 0.0, 1.0, 1.0]) == pytest.approx(0)
    assert wasserstein1([0.0], [1.0, 3.0]) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="two samples"):
        wasserstein1([], [1.0])


def test_equal_histograms_are_at_zero_and_disjoint_ones_at_the_root_of_ln_2() -> None:
    assert jensen_shannon([1, 2, 0], [1, 2, 0], 1e-10) == 0
    assert jensen_shannon([1, 2, 0], [2, 4, 0], 1e-10) == pytest.approx(0, abs=1e-5)
    assert jensen_shannon([1, 0], [0, 1], 1e-10) == pytest.approx(math.sqrt(math.log(2)), abs=1e-4)
    assert jensen_shannon([1, 0], [0, 1], 1e-10) == pytest.approx(0.8326, abs=1e-4)


def test_histograms_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="2 and 3 bins"):
        jensen_shannon([1, 0], [1, 0, 0], 1e-10)


def test_a_stretched_histogram_keeps_its_ends() -> None:
    assert stretched([0.0, 1.0], 3) == [0.0, 0.5, 1.0]


def test_one_cluster_has_no_interval() -> None:
    assert bootstrap_ratio([5.0], [10.0], 1000) is None


def test_equal_clusters_have_an_interval_of_no_width() -> None:
    assert bootstrap_ratio([1.0, 1.0, 1.0], [2.0, 2.0, 2.0], 1000) == (0.5, 0.5)


def test_the_interval_holds_the_estimate_and_is_the_same_every_time() -> None:
    tops, bottoms = [1.0, 3.0, 2.0, 8.0, 4.0], [5.0, 6.0, 4.0, 9.0, 8.0]
    first = bootstrap_ratio(tops, bottoms, 1000)
    assert first is not None
    assert first[0] < sum(tops) / sum(bottoms) < first[1]
    assert first == bootstrap_ratio(tops, bottoms, 1000)


def test_clusters_without_a_denominator_leave_no_interval() -> None:
    assert bootstrap_ratio([0.0, 0.0], [0.0, 0.0], 100) is None


def test_an_interval_needs_two_clusters_that_hold_something() -> None:
    """Nine conversations without an interruption and one with: no spread can be known."""
    assert bootstrap_ratio([0.0] * 9 + [0.8], [0.0] * 9 + [1.0], 1000) is None
    assert bootstrap_ratio([0.0, 0.8, 0.4], [0.0, 1.0, 1.0], 1000) is not None
