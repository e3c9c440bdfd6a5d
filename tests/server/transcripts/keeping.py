"""A desk with its metrics, one call that is written down there, and what it left on disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from duet_client.wire import Word
from server.observation_metrics import ObservationMetrics
from server.transcripts.desk import Desk, TranscriptEntry
from server.transcripts.redaction import Redaction
from server.transcripts.scribe import Keeping

ID = "sess_" + "0123456789abcdef" * 2
WAIT_S = 60


def word(text: str, start_ms: int) -> Word:
    return Word(text, start_ms, start_ms + 200, 0.9)


class Counted:
    """A desk with its metrics."""

    def __init__(self, folder: Path, keep: Any, redaction: Redaction, wants_final: bool) -> None:
        self.registry = CollectorRegistry()
        keeping = None if keep == "off" else Keeping(folder, keep, redaction)
        self.desk = Desk(keeping, wants_final, ObservationMetrics(self.registry))

    def metric(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0


@contextmanager
def desk(
    folder: Path, keep: str = "full", redaction: Redaction | None = None, wants_final: bool = True
) -> Iterator[Counted]:
    made = Counted(folder, keep, redaction or Redaction(), wants_final)
    try:
        yield made
    finally:
        made.desk.close()


def talk(entry: TranscriptEntry) -> None:
    entry.agent_text(1, " Hi")
    entry.words("user", [word("Hello", 100), word("there.", 400)], 900)
    entry.words("agent", [word("Hi.", 1_000)], 1_500)
    entry.guarded("manners", "user", "flag", 640)


def whole(folder: Path) -> Any:
    return json.loads((folder / f"{ID}.transcript.json").read_text())


def lines(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / f"{ID}.transcript.jsonl").read_text().splitlines()]
