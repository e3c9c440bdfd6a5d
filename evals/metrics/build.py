"""How a metric is made from what was observed, and how metrics of conversations are pooled.

No observation gives None, never 0. Refuses to know what any metric means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evals.results import Event, Metric, Scoring
from evals.stats import bootstrap_ratio, quantile
from evals.thresholds import Thresholds


@dataclass(frozen=True, slots=True)
class Measured:
    """What a family of metrics found in one conversation."""

    metrics: tuple[Metric, ...] = ()
    events: tuple[Event, ...] = ()

    def __add__(self, other: Measured) -> Measured:
        return Measured(self.metrics + other.metrics, self.events + other.events)


def distribution(
    metric: str,
    values: Iterable[float],
    rule: str,
    scoring: Scoring = "inferred",
    *,
    unit: str = "s",
    censored: int = 0,
) -> Metric:
    """One observation per event; pooled by observation, the interval by conversation."""
    seen = tuple(values)
    return _described(
        Metric(metric, "distribution", scoring, unit, rule, None, len(seen), censored=censored), seen
    )


def share(
    metric: str, hits: Iterable[bool], rule: str, scoring: Scoring = "inferred", *, censored: int = 0
) -> Metric:
    """How many of the events are hits."""
    seen = [float(hit) for hit in hits]
    return Metric(
        metric,
        "rate",
        scoring,
        "share",
        rule,
        sum(seen) / len(seen) if seen else None,
        len(seen),
        ci95=None,
        censored=censored,
        numerator=sum(seen),
        denominator=float(len(seen)),
    )


def per(
    metric: str,
    amount: float,
    of: float,
    *,
    n: int,
    unit: str,
    rule: str,
    scoring: Scoring = "measured",
) -> Metric:
    """A quantity per minute or a share of time; None where there is nothing to divide by."""
    value = amount / of if of > 0 else None
    return Metric(metric, "rate", scoring, unit, rule, value, n, numerator=amount, denominator=of)


def level(metric: str, value: float | None, unit: str, rule: str, scoring: Scoring = "measured") -> Metric:
    """One number for the whole conversation."""
    seen = () if value is None else (value,)
    return Metric(metric, "value", scoring, unit, rule, value, len(seen), observations=seen)


def with_interval(metric: Metric, thresholds: Thresholds) -> Metric:
    """The metric of a single conversation with its interval over events."""
    rounds = int(thresholds.bootstrap_rounds)
    if metric.kind == "distribution":
        ones = [1.0] * len(metric.observations)
        return _interval(metric, bootstrap_ratio(metric.observations, ones, rounds), "events")
    if metric.kind == "rate" and metric.unit == "share" and metric.denominator == metric.n:
        hits = int(metric.numerator or 0)
        events = [1.0] * hits + [0.0] * (metric.n - hits)
        return _interval(metric, bootstrap_ratio(events, [1.0] * metric.n, rounds), "events")
    return metric


def pooled(metrics: Sequence[Metric], thresholds: Thresholds) -> Metric:
    """The same metric of several conversations as one. Raises ValueError where it is not the same."""
    first = metrics[0]
    if {(m.id, m.scoring, m.kind) for m in metrics} != {(first.id, first.scoring, first.kind)}:
        raise ValueError(f"metrics of different kinds cannot be pooled: {sorted({m.id for m in metrics})}")
    if len(metrics) == 1:
        return with_interval(first, thresholds)
    counts = replace(first, n=sum(m.n for m in metrics), censored=sum(m.censored for m in metrics))
    rounds = int(thresholds.bootstrap_rounds)
    if first.kind == "rate":
        tops = [m.numerator or 0.0 for m in metrics]
        bottoms = [m.denominator or 0.0 for m in metrics]
        value = sum(tops) / sum(bottoms) if sum(bottoms) > 0 else None
        both = replace(counts, value=value, numerator=sum(tops), denominator=sum(bottoms), ci95=None)
        return _interval(both, bootstrap_ratio(tops, bottoms, rounds), "conversations")
    seen = tuple(value for m in metrics for value in m.observations)
    sums = [sum(m.observations) for m in metrics]
    sizes = [float(len(m.observations)) for m in metrics]
    return _interval(_described(counts, seen), bootstrap_ratio(sums, sizes, rounds), "conversations")


def _interval(metric: Metric, ci95: tuple[float, float] | None, over: str) -> Metric:
    known = ci95 is not None and metric.value is not None
    return replace(metric, ci95=ci95 if known else None, ci_over=over if known else None)


def _described(metric: Metric, seen: tuple[float, ...]) -> Metric:
    if not seen:
        return replace(metric, observations=())
    p50, p90, p95 = (quantile(seen, q) for q in (0.5, 0.9, 0.95))
    return replace(
        metric,
        value=sum(seen) / len(seen),
        p50=p50,
        p90=p90,
        p95=p95,
        min=min(seen),
        max=max(seen),
        observations=seen,
    )
