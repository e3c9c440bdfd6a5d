"""A run's folder, read conversation by conversation, and what the plots need of it.

    metrics.json                  evals.results.RunResult
    conversations/<id>.json       evals.results.ConversationResult, one at a time in memory

Refuses to know HTML and matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from evals.intervals import EPSILON_S
from evals.report.labels import COMPARED, INTERRUPTION, RESPONSE
from evals.report.points import Answer, Stop
from evals.results import ConversationResult, Event, Metric, RunResult, load_conversation, load_run

METRICS_FILE = "metrics.json"
EVERYTHING = "all conversations"

Result = TypeVar("Result")


class BadRun(Exception):
    """Not a run's folder; the message is one line."""


@dataclass(frozen=True)
class RunFolder:
    path: Path
    run: RunResult

    def conversations(self) -> Iterator[ConversationResult]:
        """In the order of the run's table of contents. Raises BadRun where one cannot be read."""
        for entry in self.run.conversations:
            yield _read(self.path / entry.file, load_conversation)


def open_run(path: Path) -> RunFolder:
    """The folder that `score` wrote, or its metrics file. Raises BadRun."""
    folder = path.parent if path.name == METRICS_FILE else path
    if not (folder / METRICS_FILE).is_file():
        raise BadRun(f"{path} is not the folder of a scored run: it has no {METRICS_FILE}")
    return RunFolder(folder, _read(folder / METRICS_FILE, load_run))


def _read(path: Path, load: Callable[[str], Result]) -> Result:
    try:
        return load(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadRun(f"{path}: {error}") from None


@dataclass
class Gathered:
    """What the plots and the comparison need of every conversation of a run.

    values: metric -> conversation -> value, of the compared metrics; `metrics` has one of each.
    user_starts: conversation -> starts of the user's IPUs in seconds: the same in two runs that
    had the same stimuli.
    """

    stops: list[Stop] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    values: dict[str, dict[str, float]] = field(default_factory=dict)
    metrics: dict[str, Metric] = field(default_factory=dict)
    user_starts: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def add(self, result: ConversationResult) -> None:
        group = str(result.metadata.get("scenario", EVERYTHING))
        self.stops += [_stop(event, group) for event in result.events if _counts(event, INTERRUPTION)]
        self.answers += [_answer(event, result) for event in result.events if _counts(event, RESPONSE)]
        self.user_starts[result.id] = tuple(ipu.start for ipu in result.user.ipus)
        for metric in result.metrics:
            if metric.value is not None and metric.id in COMPARED:
                key = metric_key(metric)
                self.metrics.setdefault(key, metric)
                self.values.setdefault(key, {})[result.id] = metric.value


def metric_key(metric: Metric) -> str:
    """One text for id and scoring: annotated and inferred values are never compared."""
    return metric.id if metric.scoring != "annotated" else f"{metric.id} (annotated)"


def _counts(event: Event, kind: str) -> bool:
    return event.type == kind and event.evaluable


def _stop(event: Event, group: str) -> Stop:
    stopped = event.value is not None and not event.censored
    return Stop(group, event.value * 1_000 if stopped and event.value is not None else None)


def _answer(event: Event, result: ConversationResult) -> Answer:
    """The event's earlier edge is the user's end where the offset is positive, else the later one."""
    offset_s = event.value or 0.0
    asked = event.start if offset_s >= 0 else event.end
    begun = sum(turn.start < asked - EPSILON_S for turn in result.user.turns if turn.kind == "turn")
    return Answer(asked / 60, max(1, begun), offset_s * 1_000)
