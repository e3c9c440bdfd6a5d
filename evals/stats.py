"""Quantiles, bootstrap intervals and distances between samples. Pure; refuses to know what is measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
SEED = 20_240_301
"""Fixed, so that the same observations have the same interval."""

_DRAWS_AT_ONCE = 1 << 20


def quantile(values: Sequence[float], q: float) -> float:
    """Linear between order statistics (Hyndman and Fan's type 7)."""
    return float(np.quantile(np.asarray(values, np.float64), q))


def _interval(estimates: Floats) -> tuple[float, float] | None:
    estimates = estimates[np.isfinite(estimates)]
    if estimates.size == 0:
        return None
    low, high = np.quantile(estimates, (0.025, 0.975))
    return float(low), float(high)


def bootstrap_ratio(
    numerators: Sequence[float], denominators: Sequence[float], rounds: int
) -> tuple[float, float] | None:
    """95 % percentile interval of sum / sum, drawing whole clusters (conversations or events).

    A mean is the ratio of the clusters' sums to their counts. None where fewer than two clusters hold
    anything: one observation says nothing of how others would differ.
    """
    if sum(below > 0 for below in denominators) < 2:
        return None
    top, bottom = np.asarray(numerators, np.float64), np.asarray(denominators, np.float64)
    rng = np.random.default_rng(SEED)
    estimates = np.full(rounds, np.nan)
    step = max(1, _DRAWS_AT_ONCE // len(top))
    for first in range(0, rounds, step):
        drawn = rng.integers(0, len(top), (min(step, rounds - first), len(top)))
        above, below = top[drawn].sum(axis=1), bottom[drawn].sum(axis=1)
        np.divide(above, below, out=estimates[first : first + step], where=below > 0)
    return _interval(estimates)


def wasserstein1(a: Sequence[float], b: Sequence[float]) -> float:
    """The area between two samples' distribution functions, in the samples' unit.

    Raises ValueError where one is empty.
    """
    x, y = np.sort(np.asarray(a, np.float64)), np.sort(np.asarray(b, np.float64))
    if x.size == 0 or y.size == 0:
        raise ValueError("the distance needs two samples")
    points = np.sort(np.concatenate((x, y)))
    below_x = np.searchsorted(x, points[:-1], "right") / x.size
    below_y = np.searchsorted(y, points[:-1], "right") / y.size
    return float(np.sum(np.abs(below_x - below_y) * np.diff(points)))


def jensen_shannon(p: Sequence[float], q: Sequence[float], epsilon: float) -> float:
    """Square root of the Jensen-Shannon divergence with natural logarithm: 0 to sqrt(ln 2).

    Both histograms get `epsilon` in every bin and are then made to sum to 1.

    Raises ValueError where they differ in length or are empty.
    """
    a, b = np.asarray(p, np.float64) + epsilon, np.asarray(q, np.float64) + epsilon
    if a.size == 0 or a.shape != b.shape:
        raise ValueError(f"two histograms of one length are needed, not {a.size} and {b.size} bins")
    a, b = a / a.sum(), b / b.sum()
    middle = (a + b) / 2
    divergence = (np.sum(a * np.log(a / middle)) + np.sum(b * np.log(b / middle))) / 2
    return float(np.sqrt(max(0.0, divergence)))


def stretched(histogram: Sequence[float], bins: int) -> list[float]:
    """A histogram of another number of bins, linear between the old ones' positions."""
    old = np.linspace(0.0, 1.0, len(histogram))
    return [float(v) for v in np.interp(np.linspace(0.0, 1.0, bins), old, histogram)]
