"""Two runs on the same stimuli: paired differences, their intervals, and tests that know of each other.

One pair is one conversation that both runs have, so that an easy stimulus is easy on both sides.
Interval: percentile bootstrap of the mean difference over pairs (Efron and Tibshirani 1993, ch. 13).
p: sign-flip permutation of the pairs, exact up to `EXACT_PAIRS` and drawn at random beyond. Holm's
step-down correction (1979) over all metrics tested. Everything drawn comes from a fixed seed.

Refuses to know files and what a metric means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
EXACT_PAIRS = 12
SEED = 20_250_601
LEAST_PAIRS = 3
"""Fewer pairs give a mean and no interval or test."""
_HAIR = 1e-12

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """This run minus the other, for one metric. low, high: 95 % interval. p_holm: corrected p."""

    metric: str
    pairs: int
    this: float
    other: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None = None


def compare(
    this: Mapping[str, Mapping[str, float]], other: Mapping[str, Mapping[str, float]]
) -> list[PairedDifference]:
    """metric -> conversation -> value, for each run; metrics without a common conversation are left out."""
    differences = []
    for metric in this:
        common = [name for name in this[metric] if name in other.get(metric, {})]
        if common:
            mine = np.array([this[metric][name] for name in common])
            theirs = np.array([other[metric][name] for name in common])
            differences.append(paired_difference(metric, mine, theirs))
    return _with_holm(differences)


def paired_difference(metric: str, this: Floats, other: Floats) -> PairedDifference:
    """Arrays [pairs], one value a conversation, in the same order."""
    steps = this - other
    enough = len(steps) >= LEAST_PAIRS
    low, high = bootstrap_interval(steps) if enough else (None, None)
    return PairedDifference(
        metric,
        len(steps),
        float(this.mean()),
        float(other.mean()),
        float(steps.mean()),
        low,
        high,
        sign_flip_p(steps) if enough else None,
    )


def bootstrap_interval(steps: Floats) -> tuple[float, float]:
    """95 % percentile interval of the mean."""
    draws = np.random.default_rng(SEED).integers(0, len(steps), (RESAMPLES, len(steps)))
    low, high = np.quantile(steps[draws].mean(axis=1), (0.025, 0.975))
    return float(low), float(high)


def sign_flip_p(steps: Floats) -> float:
    """Two-sided: how often random signs move the mean at least as far from zero."""
    n = len(steps)
    if n <= EXACT_PAIRS:
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        extra = 0
    else:
        signs = np.random.default_rng(SEED).choice((-1, 1), (RESAMPLES, n))
        extra = 1  # the observed signs are one of the draws: a drawn p is never 0
    as_far = np.abs(signs @ steps) >= abs(steps.sum()) - _HAIR
    return float((as_far.sum() + extra) / (len(signs) + extra))


def holm(values: Sequence[float]) -> list[float]:
    """Holm's corrected p-values, in the order given."""
    corrected = [0.0] * len(values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=lambda i: values[i])):
        highest = max(highest, min(1.0, (len(values) - rank) * values[index]))
        corrected[index] = highest
    return corrected


def _with_holm(differences: Sequence[PairedDifference]) -> list[PairedDifference]:
    corrected = iter(holm([found.p for found in differences if found.p is not None]))
    return [found if found.p is None else replace(found, p_holm=next(corrected)) for found in differences]
