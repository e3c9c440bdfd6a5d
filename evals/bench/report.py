"""The bench's table and its dated log. Pure: outcomes in, text out."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from duet_client.bench import BenchPlan
from duet_client.stats import Summary

LATE_MAX_MS = BenchPlan().late_max_ms
COLUMNS = ["server", "wire", "calls", "served", "p50 ms", "p95 ms", "p99 ms", "over 80 ms"]
COLUMNS += ["unanswered", "send late p99", "MB"]


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement.

    served: calls that got an answer to most of what they said. summary: those calls' figures.
    unanswered: frames without an answer, of all calls. memory_mb: the server's, at the end.
    """

    server: str
    wire: str
    calls: int
    served: int
    summary: Summary
    unanswered: int
    errors: tuple[str, ...] = ()
    memory_mb: float = 0.0

    @property
    def trusted(self) -> bool:
        """A load generator that was itself late measured itself."""
        return self.summary.send_late_ms.p99 <= LATE_MAX_MS

    def cells(self) -> list[str]:
        s = self.summary
        late = f"{s.send_late_ms.p99:.1f}"
        memory = f"{self.memory_mb:.0f}" if self.memory_mb else "-"
        head = [self.server, self.wire, str(self.calls), f"{self.served} of {self.calls}"]
        if not self.trusted:
            return [*head, *["-"] * 4, str(self.unanswered), f"{late} (invalid)", memory]
        answered = s.latency_ms.count
        misses = f"{100 * s.deadline_misses / answered:.1f} %" if answered else "-"
        times = [
            f"{q:.1f}" if answered else "-" for q in (s.latency_ms.p50, s.latency_ms.p95, s.latency_ms.p99)
        ]
        return [*head, *times, misses, str(self.unanswered), late, memory]


def command(arguments: Sequence[str]) -> str:
    """What makes the same measurement again."""
    return f'make bench BENCH_ARGS="{shlex.join(arguments)}"' if arguments else "make bench"


def table(rows: Sequence[Row]) -> str:
    """A Markdown table of the calls."""
    return markdown(COLUMNS, [row.cells() for row in rows])


def markdown(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, columns aligned for the terminal too."""
    lines = [list(heading), *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heading))]
    text = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines]
    text.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(text)


@dataclass(frozen=True, slots=True)
class Log:
    """What the page tells. sections: a title and Markdown for each."""

    date: str
    command: str
    facts: dict[str, str]
    notes: Sequence[str]
    rows: Sequence[Row]
    sections: Sequence[tuple[str, str]] = ()


def log_page(log: Log) -> str:
    """A Markdown page that says what was measured where, with what, and what to mind."""
    failures = [f"- {r.server}, {r.calls} calls: {e}" for r in log.rows for e in r.errors]
    parts = [
        f"# Bench of {log.date}",
        f"`{log.command}`",
        "\n".join(f"- {key}: {value}" for key, value in log.facts.items()),
        *(f"## {title}\n\n{body}" for title, body in log.sections),
        f"## Every measurement\n\n{table(log.rows)}",
        "\n".join(f"- {note}" for note in log.notes),
    ]
    if failures:
        parts.append("Calls that failed:\n\n" + "\n".join(failures))
    return "\n\n".join(parts) + "\n"
