"""Stretches of time in seconds, and the arithmetic on lists of them. Refuses to know who speaks.

Times are compared with a tolerance of a microsecond, so that 0.1 + 0.2 and 0.3 are one time.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

EPSILON_S = 1e-6


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """From `start` to `end` in seconds from the start of the recording; the end is outside.

    Raises:
        ValueError: the end is before the start, or one of them is not finite.
    """

    start: float
    end: float

    def __post_init__(self) -> None:
        if not -math.inf < self.start <= self.end < math.inf:
            fault = "cannot end before it starts" if self.end < self.start else "needs finite times"
            raise ValueError(f"an interval {fault}: {self.start} to {self.end}")

    @property
    def duration(self) -> float:
        return self.end - self.start

    def holds(self, time: float) -> bool:
        """True from the start on and until before the end."""
        return self.start - EPSILON_S <= time < self.end - EPSILON_S

    def overlap(self, other: Interval) -> float:
        """Seconds in both, 0 where they do not meet."""
        return max(0.0, min(self.end, other.end) - max(self.start, other.start))


Intervals = tuple[Interval, ...]


def at_least(value: float, limit: float) -> bool:
    """value >= limit, with the tolerance on the generous side."""
    return value >= limit - EPSILON_S


def at_most(value: float, limit: float) -> bool:
    """value <= limit, with the tolerance on the generous side."""
    return value <= limit + EPSILON_S


def total(intervals: Iterable[Interval]) -> float:
    """Seconds in all of them, what is in two counted twice."""
    return sum((interval.duration for interval in intervals), 0.0)


def joined(intervals: Iterable[Interval], gap_s: float) -> Intervals:
    """Sorted, and joined over silences shorter than `gap_s`; a silence of exactly `gap_s` stays."""
    found: list[Interval] = []
    for interval in sorted(intervals):
        if found and not at_least(interval.start - found[-1].end, gap_s):
            found[-1] = Interval(found[-1].start, max(found[-1].end, interval.end))
        else:
            found.append(interval)
    return tuple(found)


def union(intervals: Iterable[Interval]) -> Intervals:
    """Sorted, with those that touch or overlap made one."""
    return joined(intervals, 2 * EPSILON_S)


def intersections(a: Sequence[Interval], b: Sequence[Interval]) -> Intervals:
    """Every stretch that is in one of `a` and one of `b`; both sorted and each without overlaps."""
    found: list[Interval] = []
    i = j = 0
    while i < len(a) and j < len(b):
        start, end = max(a[i].start, b[j].start), min(a[i].end, b[j].end)
        if end - start > EPSILON_S:
            found.append(Interval(start, end))
        if a[i].end < b[j].end:
            i += 1
        else:
            j += 1
    return tuple(found)


def active_at(intervals: Sequence[Interval], time: float) -> Interval | None:
    """The interval that holds a time; sorted and without overlaps."""
    at = bisect_right(intervals, time + EPSILON_S, key=_start)
    return intervals[at - 1] if at and intervals[at - 1].holds(time) else None


def starting_in(intervals: Sequence[Interval], start: float, end: float) -> Sequence[Interval]:
    """Those that start from `start` on and before `end`; sorted."""
    first = bisect_left(intervals, start - EPSILON_S, key=_start)
    return intervals[first : bisect_left(intervals, end - EPSILON_S, key=_start)]


def _start(interval: Interval) -> float:
    return interval.start
