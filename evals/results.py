"""What a scored conversation and a scored run are, and their JSON.

    <out>/metrics.json                  RunResult; metrics.csv: its metrics, one a line
    <out>/conversations/<id>.json       ConversationResult
    <out>/events.jsonl, events.csv      every Event of every conversation

Seconds from the start of the recording; what did not happen is null, never 0. The JSON is the
dataclasses below, field for field (schema: evals/schema.json), floats rounded to a microsecond,
so that the same input gives the same bytes. Refuses to know how anything is measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from evals.intervals import Interval, Intervals
from evals.words import Word

SCHEMA = "duet.evals/1"

Channel = Literal["user", "agent"]
Kind = Literal["distribution", "rate", "value"]
Scoring = Literal["measured", "inferred", "annotated"]
"""measured: from the activity alone. inferred: what an event was is guessed from the activity and
the words. annotated: told by annotations. One number never mixes them."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One number, what it rests on, and what is needed to pool it over conversations.

    id, scoring: together unique in a result.
    kind: "distribution" pools its `observations`; "rate" is numerator / denominator, and pools
        each; "value" is a level per conversation, and pools as a distribution of conversations.
    unit: "s", "share", "per_min", "s_per_min", "per_turn", "wpm", "dB", "ppm", "nat",
        "mos", "points".
    rule: the definition in a few words, with the rule's name where there are several.
    value: the mean of a distribution, the quotient of a rate; None where nothing happened.
    n: observations of a distribution, events in a rate's denominator (minutes do not count: a
        quantity per minute has the events of its numerator), conversations with a value.
    ci95: 95 % bootstrap interval of `value`, over `ci_over` ("conversations" or "events").
    censored: observations whose end was not seen; they are in no other field.
    """

    id: str
    kind: Kind
    scoring: Scoring
    unit: str
    rule: str
    value: float | None
    n: int
    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    min: float | None = None
    max: float | None = None
    ci95: tuple[float, float] | None = None
    ci_over: str | None = None
    censored: int = 0
    numerator: float | None = None
    denominator: float | None = None
    observations: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, where, and what it was worth.

    id: "<conversation>#<number>". type: see evals.events.TYPES. channel: who did it.
    value: in `unit`, e.g. the latency that starts or ends here; None where there is none.
    metric: id of the metric that it counts in ("" for a mark on the timeline alone).
    rule: which definition found it. words: what was said in it, "" where there are no words.
    censored: `value` is only a lower bound. evaluable: False with the reason in `why_not`.
    tags: "natural_end?", "collision", "greeting", "lapse", "agent_yields", "user_yields", ...
    """

    id: str
    conversation: str
    type: str
    channel: Channel
    start: float
    end: float
    value: float | None = None
    unit: str = "s"
    metric: str = ""
    rule: str = ""
    scoring: Scoring = "inferred"
    words: str = ""
    censored: bool = False
    evaluable: bool = True
    why_not: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn's extent and the kind of it: "turn", "backchannel", "short_overlap", "greeting"."""

    start: float
    end: float
    kind: str = "turn"


@dataclass(frozen=True, slots=True)
class Lane:
    """One channel of the timeline. transcribed: False where nobody looked for words."""

    activity: Intervals = ()
    ipus: Intervals = ()
    turns: tuple[Turn, ...] = ()
    words: tuple[Word, ...] = ()
    noise_floor_dbfs: float | None = None
    transcribed: bool = False


@dataclass(frozen=True, slots=True)
class Method:
    """How it was measured.

    origin: the recorder's position, "model_out", "server_out", "client_in" or "ear"; "unknown"
        where no sidecar says. detector, asr: names; *_version: of the packages that did it.
    error_ms: how far a boundary of this detector may be off (5th to 95th percentile).
    """

    detector: str
    detector_version: str
    detector_error_ms: float
    words: str = ""
    words_version: str = ""
    origin: str = "unknown"
    thresholds: dict[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConversationResult:
    """A scored conversation. `audio` is the path of the stereo file, or "USER|AGENT" for two mono files."""

    id: str
    audio: str
    duration_s: float
    rate: int
    user_channel: int
    method: Method
    user: Lane
    agent: Lane
    metrics: tuple[Metric, ...]
    events: tuple[Event, ...]
    warnings: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    schema: str = SCHEMA


@dataclass(frozen=True, slots=True)
class ConversationEntry:
    """A line of the run's table of contents; `file` is relative to the run's folder."""

    id: str
    audio: str
    file: str
    duration_s: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """An input that could not be scored, and the one line that says why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class RunResult:
    """Conversations that were scored together. `methods` holds each distinct one once."""

    name: str
    methods: tuple[Method, ...]
    conversations: tuple[ConversationEntry, ...]
    rejected: tuple[Rejected, ...]
    metrics: tuple[Metric, ...]
    minutes: float
    user_turns: int
    agent_turns: int
    version: str
    schema: str = SCHEMA


def find(metrics: tuple[Metric, ...], metric: str, scoring: Scoring | None = None) -> Metric | None:
    """The metric of an id, of any scoring or of the given one."""
    return next((m for m in metrics if m.id == metric and scoring in (None, m.scoring)), None)


def dump(result: ConversationResult | RunResult) -> str:
    """JSON with a fixed order and rounded floats: the same result is the same bytes."""
    return json.dumps(_rounded(asdict(result)), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def dump_event(event: Event) -> str:
    """One line of events.jsonl, without its newline."""
    return json.dumps(_rounded(asdict(event)), ensure_ascii=False, allow_nan=False)


def load_conversation(text: str) -> ConversationResult:
    """Raises ValueError where it is not the JSON of a scored conversation of this schema."""
    with _clear("a scored conversation"):
        return _conversation(_data(text))


def load_run(text: str) -> RunResult:
    """Raises ValueError where it is not the JSON of a scored run of this schema."""
    with _clear("a scored run"):
        return _run(_data(text))


@contextmanager
def _clear(what: str) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is not {what}: a field is missing or unknown: {error}") from None


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        small = 0 < abs(value) < 1e-4  # such as a threshold of 1e-10
        return float(f"{value:.3g}") if small else round(value, 6) + 0.0  # no -0.0
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value


def _data(text: str) -> dict[str, Any]:
    data = json.loads(text)
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise ValueError(f"schema must be {SCHEMA!r}, not {schema!r}")
    return dict(data)


def _run(data: dict[str, Any]) -> RunResult:
    return RunResult(
        **data
        | {
            "methods": tuple(Method(**m) for m in data["methods"]),
            "conversations": tuple(_tupled(ConversationEntry, c, "warnings") for c in data["conversations"]),
            "rejected": tuple(Rejected(**r) for r in data["rejected"]),
            "metrics": tuple(map(_metric, data["metrics"])),
        }
    )


def _conversation(data: dict[str, Any]) -> ConversationResult:
    return ConversationResult(
        **data
        | {
            "method": Method(**data["method"]),
            "user": _lane(data["user"]),
            "agent": _lane(data["agent"]),
            "metrics": tuple(map(_metric, data["metrics"])),
            "events": tuple(_tupled(Event, e, "tags") for e in data["events"]),
            "warnings": tuple(data["warnings"]),
        }
    )


def _tupled(kind: Any, data: dict[str, Any], *names: str) -> Any:
    return kind(**data | {name: tuple(data[name]) for name in names})


def _metric(data: dict[str, Any]) -> Metric:
    ci95 = data["ci95"]
    return Metric(
        **data | {"ci95": tuple(ci95) if ci95 else None, "observations": tuple(data["observations"])}
    )


def _lane(data: dict[str, Any]) -> Lane:
    return Lane(
        activity=tuple(Interval(**i) for i in data["activity"]),
        ipus=tuple(Interval(**i) for i in data["ipus"]),
        turns=tuple(Turn(**t) for t in data["turns"]),
        words=tuple(Word(**w) for w in data["words"]),
        noise_floor_dbfs=data["noise_floor_dbfs"],
        transcribed=data["transcribed"],
    )
