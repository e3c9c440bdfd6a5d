"""The results of conversations made one: pooled metrics (JSON and CSV), all events, the table of contents.

One conversation is in memory at a time; what is kept of it are its observations.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from evals.fingerprints import version
from evals.metrics.build import pooled
from evals.results import (
    ConversationEntry,
    ConversationResult,
    Event,
    Method,
    Metric,
    Rejected,
    RunResult,
    dump,
    dump_event,
    load_conversation,
)
from evals.thresholds import Thresholds

CONVERSATIONS = "conversations"


def conversation_file(out: Path, name: str) -> Path:
    return out / CONVERSATIONS / f"{name}.json"


def write_whole(path: Path, text: str) -> None:
    """Readers see the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text, "utf-8")
    os.replace(part, path)


@dataclass
class _Sums:
    """What is kept of the conversations that were read."""

    metrics: dict[tuple[str, str], list[Metric]] = field(default_factory=dict)
    methods: list[Method] = field(default_factory=list)
    entries: list[ConversationEntry] = field(default_factory=list)
    seconds: float = 0.0
    user_turns: int = 0
    agent_turns: int = 0

    def add(self, found: ConversationResult) -> None:
        for metric in found.metrics:
            self.metrics.setdefault((metric.id, metric.scoring), []).append(metric)
        if found.method not in self.methods:
            self.methods.append(found.method)
        file = f"{CONVERSATIONS}/{found.id}.json"
        self.entries.append(ConversationEntry(found.id, found.audio, file, found.duration_s, found.warnings))
        self.seconds += found.duration_s
        self.user_turns += sum(turn.kind == "turn" for turn in found.user.turns)
        self.agent_turns += sum(turn.kind == "turn" for turn in found.agent.turns)


def write_run(
    out: Path, names: Sequence[str], rejected: Iterable[Rejected], thresholds: Thresholds
) -> RunResult:
    """Reads the conversations of the given ids, in that order; writes metrics.json and the events.

    Raises OSError or ValueError where a conversation's file is not there or is none.
    """
    sums = _Sums()
    jsonl, table = out / ".events.jsonl.part", out / ".events.csv.part"
    with jsonl.open("w", encoding="utf-8") as lines, table.open("w", encoding="utf-8", newline="") as cells:
        rows = csv.writer(cells)
        rows.writerow([column.name for column in fields(Event)])
        for name in names:
            found = load_conversation(conversation_file(out, name).read_text("utf-8"))
            sums.add(found)
            for event in found.events:
                lines.write(dump_event(event) + "\n")
                rows.writerow([_cell(getattr(event, column.name)) for column in fields(Event)])
    os.replace(jsonl, out / "events.jsonl")
    os.replace(table, out / "events.csv")
    run = RunResult(
        out.resolve().name,
        tuple(sums.methods),
        tuple(sums.entries),
        tuple(rejected),
        tuple(pooled(same, thresholds) for same in sums.metrics.values()),
        sums.seconds / 60,
        sums.user_turns,
        sums.agent_turns,
        version(),
    )
    write_whole(out / "metrics.json", dump(run))
    write_whole(out / "metrics.csv", _table(run.metrics))
    return run


def _table(metrics: Sequence[Metric]) -> str:
    """One line a metric, without the observations."""
    columns = [column.name for column in fields(Metric) if column.name != "observations"]
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows([_cell(getattr(metric, name)) for name in columns] for metric in metrics)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return " ".join(map(str, map(_cell, value))) if isinstance(value, tuple) else value
