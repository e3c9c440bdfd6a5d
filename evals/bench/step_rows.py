"""What `python -m model steps` printed, and what follows from it. Pure: text in, rows and a table out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

COLUMNS = ["sessions", "context", "A, median ms", "B", "C", "floor", "B / C", "C / floor"]

PARTS = ["subject", "sessions", "context", "p50 ms", "p99 ms", "encode", "language", "decode", "host", "own"]


@dataclass(frozen=True, slots=True)
class StepRow:
    """One subject at one number of sessions; milliseconds, medians unless said otherwise.

    own_ms: of the stepping thread itself, however busy the machine was.
    """

    subject: str
    sessions: int
    capacity: int
    context: int
    p50_ms: float
    p99_ms: float
    encode_ms: float
    lm_ms: float
    decode_ms: float
    host_ms: float
    floor_ms: float
    own_ms: float


def read(lines: Iterable[str]) -> list[StepRow]:
    """Skips the heading. Raises ValueError for a line of another shape."""
    return [_row(line.split("\t")) for line in lines if line.strip() and not line.startswith("subject\t")]


def _row(cells: Sequence[str]) -> StepRow:
    names = [field.name for field in fields(StepRow)]
    if len(cells) != len(names):
        raise ValueError(f"a line of {len(cells)} cells, not {len(names)}: {cells}")
    counts = [int(cell) for cell in cells[1:4]]
    return StepRow(cells[0], *counts, *(float(cell) for cell in cells[4:]))


def compare(rows: Sequence[StepRow]) -> list[list[str]]:
    """COLUMNS for every number of sessions and context, with the ratios that the figures stand for."""
    keys = sorted({(row.sessions, row.context) for row in rows})
    return [_line(sessions, context, rows) for sessions, context in keys]


def _line(sessions: int, context: int, rows: Sequence[StepRow]) -> list[str]:
    found = {row.subject: row for row in rows if (row.sessions, row.context) == (sessions, context)}
    times = [f"{found[name].p50_ms:.2f}" if name in found else "-" for name in "ABC"]
    ours = found.get("C")
    floor = next(iter(found.values())).floor_ms
    ratios = ["-", "-"]
    if ours is not None:
        if "B" in found:
            ratios[0] = f"{found['B'].p50_ms / ours.p50_ms:.2f}"
        ratios[1] = f"{ours.p50_ms / floor:.1f}"
    return [str(sessions), str(context), *times, f"{floor:.2f}", *ratios]


def parts(rows: Sequence[StepRow]) -> list[list[str]]:
    """PARTS for every row: where its time goes."""
    return [_split(row) for row in rows]


def _split(row: StepRow) -> list[str]:
    figures = (row.p50_ms, row.p99_ms, row.encode_ms, row.lm_ms, row.decode_ms, row.host_ms, row.own_ms)
    return [row.subject, str(row.sessions), str(row.context), *(f"{ms:.2f}" for ms in figures)]
