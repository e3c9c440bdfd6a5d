"""How many calls each server holds, and the ratios of these numbers. Pure: rows in, text out.

A number of calls is held when in every round every call that was made is served, no more than one
frame in a thousand is late, and at most one of each call stays unanswered (shared study, fair
measurement).
"""

from __future__ import annotations

from collections.abc import Sequence

from evals.bench.report import Row

MISSES_MOST = 0.001
UNANSWERED_MOST = 1
"""Of each call."""


def holds(row: Row) -> bool:
    answered = row.summary.latency_ms.count
    late = row.summary.deadline_misses / answered if answered else 1.0
    return (
        row.trusted
        and row.served == row.calls
        and not row.errors
        and late <= MISSES_MOST
        and row.unanswered <= UNANSWERED_MOST * row.calls
    )


def most_held(rows: Sequence[Row], server: str) -> int:
    """The largest number of calls that every round of it held; 0 where not even the smallest was."""
    mine = [row for row in rows if row.server == server]
    held = {row.calls for row in mine} - {row.calls for row in mine if not holds(row)}
    return max(held, default=0)


def told(rows: Sequence[Row], names: tuple[str, str, str]) -> str:
    """Calls held by A, B and C, and how many times as many C holds."""
    a, b, c = (most_held(rows, name) for name in names)
    tried = max(row.calls for row in rows)
    lines = [f"- {name}: {held} calls held" for name, held in zip(names, (a, b, c), strict=True)]
    for name, other in (("A", a), ("B", b)):
        lines.append(
            f"- C holds {c / other:.1f} times {name}'s" if other else f"- {name} holds none: no ratio"
        )
    if c == tried:
        lines.append(f"- {tried} calls were the most that was tried: C may hold more")
    return "\n".join(lines)
