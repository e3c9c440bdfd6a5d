"""How long a step takes with so many sessions, and how many keep their deadline. Pure arithmetic.

Measured at a few numbers of rows with every row's context full, which is where each call ends up.
"""

from __future__ import annotations

from dataclasses import dataclass

STEP_BUDGET_S = 0.048
"""0.6 of a frame: what is left absorbs jitter and the queue (shared study, scheduling)."""


@dataclass(frozen=True, slots=True)
class StepTimes:
    """points: (rows, seconds of a step), rows growing, at least one."""

    points: tuple[tuple[int, float], ...]

    def seconds(self, rows: int) -> float:
        """Straight lines between the points; beyond the last one its own share of rows."""
        before = (0, 0.0)
        for point in self.points:
            if rows <= point[0]:
                break
            before = point
        else:
            last, seconds = self.points[-1]
            return seconds * rows / last
        if before[0] == 0:
            return point[1]
        share = (rows - before[0]) / (point[0] - before[0])
        return before[1] + share * (point[1] - before[1])

    def most_rows(self, budget_s: float) -> int:
        """The most rows whose step stays within the budget, of those that were measured; at least 1."""
        rows = self.points[-1][0]
        while rows > 1 and self.seconds(rows) > budget_s:
            rows -= 1
        return rows

    def told(self) -> str:
        return ", ".join(f"{1000 * seconds:.1f} ms with {rows}" for rows, seconds in self.points)


@dataclass(frozen=True, slots=True)
class Bound:
    """How many sessions may be in at once, and what keeps it from being more."""

    sessions: int
    reason: str


def ladder(capacity: int) -> tuple[int, ...]:
    """The numbers of rows worth measuring: doubling, and the capacity itself."""
    doubled = [1 << n for n in range(capacity.bit_length()) if 1 << n < capacity]
    return (*doubled, capacity)


def bound_of(times: StepTimes, budget_s: float) -> Bound | None:
    """None where every measured number of sessions keeps its deadline."""
    most = times.most_rows(budget_s)
    if most == times.points[-1][0]:
        return None
    milliseconds = 1000 * times.seconds(most + 1)
    reason = (
        f"a step with {most + 1} sessions takes {milliseconds:.0f} ms, the limit is {1000 * budget_s:.0f} ms"
    )
    return Bound(most, reason)
