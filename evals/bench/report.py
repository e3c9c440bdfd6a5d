"""The bench's table and its dated log. Pure: outcomes in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duet_client.bench import BenchPlan
from duet_client.stats import Summary

LATE_MAX_MS = BenchPlan().late_max_ms
COLUMNS = ["server", "wire", "calls", "served", "p50 ms", "p95 ms", "p99 ms", "over 80 ms"]
COLUMNS += ["unanswered", "send late p99"]


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement.

    served: calls that got an answer to most of what they said. summary: those calls' figures.
    unanswered: frames without an answer, of all calls.
    """

    server: str
    wire: str
    calls: int
    served: int
    summary: Summary
    unanswered: int
    errors: tuple[str, ...] = ()

    @property
    def trusted(self) -> bool:
        """A load generator that was itself late measured itself."""
        return self.summary.send_late_ms.p99 <= LATE_MAX_MS

    def cells(self) -> list[str]:
        s = self.summary
        late = f"{s.send_late_ms.p99:.1f}"
        head = [self.server, self.wire, str(self.calls), f"{self.served} of {self.calls}"]
        if not self.trusted:
            return [*head, *["-"] * 4, str(self.unanswered), f"{late} (invalid)"]
        answered = s.latency_ms.count
        misses = f"{100 * s.deadline_misses / answered:.1f} %" if answered else "-"
        times = [
            f"{q:.1f}" if answered else "-" for q in (s.latency_ms.p50, s.latency_ms.p95, s.latency_ms.p99)
        ]
        return [*head, *times, misses, str(self.unanswered), late]


def table(rows: Sequence[Row]) -> str:
    """A Markdown table, columns aligned for the terminal too."""
    lines = [list(COLUMNS), *(row.cells() for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    text = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines]
    text.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(text)


def log_page(
    date: str, command: str, facts: dict[str, str], notes: Sequence[str], rows: Sequence[Row]
) -> str:
    """A Markdown page that says what was measured where, with what, and what to mind."""
    failures = [f"- {r.server}, {r.calls} calls: {e}" for r in rows for e in r.errors]
    parts = [
        f"# Bench of {date}",
        f"`{command}`",
        "\n".join(f"- {key}: {value}" for key, value in facts.items()),
        table(rows),
        "\n".join(f"- {note}" for note in notes),
    ]
    if failures:
        parts.append("Calls that failed:\n\n" + "\n".join(failures))
    return "\n\n".join(parts) + "\n"
