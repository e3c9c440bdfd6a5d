"""Numbers as a reader sees them: seconds as milliseconds, shares as percent, nothing as "no events".

Refuses to know which metric a number belongs to.
"""

from __future__ import annotations

from evals.results import Metric

NOTHING = "no events"
SHARE_DIFFERENCE = "share_difference"
"""Unit of the difference of two shares: percentage points."""
_MINUS = "\N{MINUS SIGN}"
_THIN = "\N{NARROW NO-BREAK SPACE}"


_WORDS = {
    "share": "%",
    SHARE_DIFFERENCE: "points",
    "per_min": "/min",
    "s_per_min": "s/min",
    "per_turn": "per turn",
    "wpm": "/min",
    "count": "",
    "nat": "nat",
    "mos": "of 5",
}


def number(value: float | None, unit: str, *, signed: bool = False) -> str:
    """One value with its unit; None is "no events", never 0."""
    if value is None:
        return NOTHING
    return f"{_figure(value, unit, signed)} {unit_words(unit)}".rstrip()


def unit_words(unit: str) -> str:
    """The unit as it stands after a figure; seconds are shown as milliseconds."""
    return "ms" if unit == "s" else _WORDS.get(unit, unit)


def _figure(value: float, unit: str, signed: bool) -> str:
    scale, places = {"s": (1_000, 0), "share": (100, 1), SHARE_DIFFERENCE: (100, 1), "count": (1, 0)}.get(
        unit, (1, {"dB": 1, "ppm": 1, "wpm": 0}.get(unit, 2))
    )
    figure = f"{value * scale:,.{places}f}".replace(",", _THIN)
    if not figure.strip("-0.,"):
        return figure.lstrip("-")  # what rounds to nothing has no sign
    return ("+" if signed and value > 0 else "") + figure.replace("-", _MINUS)


def interval(bounds: tuple[float, float] | None, unit: str, *, signed: bool = False) -> str:
    """ "low to high" with the unit once; "" where there is no interval."""
    if bounds is None:
        return ""
    low, high = (_figure(bound, unit, signed) for bound in bounds)
    return f"{low} to {high} {unit_words(unit)}".rstrip()


def is_signed(metric: Metric) -> bool:
    """Offsets below zero are overlaps: their sign is part of the value."""
    return metric.unit == "s" and metric.min is not None and metric.min < 0


def counted(metric: Metric) -> str:
    """What the value rests on: n, and for a share of events its fraction."""
    if metric.kind == "rate" and metric.unit == "share" and metric.n > 0 and metric.denominator == metric.n:
        return f"{metric.numerator or 0:g} of {metric.n}"
    return str(metric.n)


def is_scarce(metric: Metric, events_min: float) -> bool:
    """A rate that rests on too few events to be believed."""
    return metric.kind == "rate" and metric.n < events_min
