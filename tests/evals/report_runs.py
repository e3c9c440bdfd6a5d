"""Scored runs made by hand, so that the report is tested on numbers that were worked out beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile

from evals.intervals import Interval
from evals.results import (
    ConversationEntry,
    ConversationResult,
    Event,
    Lane,
    Method,
    Metric,
    Rejected,
    RunResult,
    Turn,
    dump,
)
from evals.words import Word

RATE = 24_000
DURATION_S = 12.0
USER = ((1.0, 3.0), (7.0, 8.0))
INTERRUPTED_S = 7.0
METHOD = Method(
    "energy", "1", 50.0, "by hand", "", origin="ear", thresholds={"yield_s": 2.0, "rate_events_min": 10.0}
)


def distribution(metric: str, values: Sequence[float], **more: object) -> Metric:
    """A metric whose statistics but the mean and the median are left out."""
    mean = float(np.mean(values)) if values else None
    median = float(np.median(values)) if values else None
    made = Metric(
        metric,
        "distribution",
        "inferred",
        "s",
        "by hand",
        mean,
        len(values),
        median,
        observations=tuple(values),
    )
    return made if not more else Metric(**{**{f: getattr(made, f) for f in made.__slots__}, **more})


def rate(metric: str, hits: int, n: int) -> Metric:
    value = hits / n if n else None
    return Metric(
        metric, "rate", "inferred", "share", "by hand", value, n, numerator=float(hits), denominator=float(n)
    )


def conversation(name: str, audio: str, latency_s: float, stop_s: float | None) -> ConversationResult:
    """The user asks, the agent answers after `latency_s`, the user interrupts at 7 s.

    stop_s: the agent falls silent so long after; None: it speaks on to the end.
    """
    silent = INTERRUPTED_S + stop_s if stop_s is not None else DURATION_S
    return ConversationResult(
        name,
        audio,
        DURATION_S,
        RATE,
        0,
        METHOD,
        _lane(USER, "so <b>what</b> is it"),
        _lane(((3.0 + latency_s, silent),), "well it is this"),
        (
            distribution("response_latency", [latency_s]),
            distribution("fto_user_to_agent", [latency_s]),
            distribution("stop_latency", [] if stop_s is None else [stop_s]),
            rate("yield_rate", int(stop_s is not None), 1),
        ),
        _events(name, 3.0 + latency_s, silent, latency_s, stop_s),
        metadata={"scenario": "user_interruption"},
    )


def _events(
    name: str, answer: float, silent: float, latency_s: float, stop_s: float | None
) -> tuple[Event, ...]:
    value = stop_s if stop_s is not None else DURATION_S - INTERRUPTED_S
    return (
        Event(
            f"{name}#0001",
            name,
            "response",
            "agent",
            min(3.0, answer),
            max(3.0, answer),
            latency_s,
            metric="fto_user_to_agent",
        ),
        Event(
            f"{name}#0002",
            name,
            "interruption",
            "user",
            INTERRUPTED_S,
            silent,
            value,
            metric="stop_latency",
            words="wait",
            censored=stop_s is None,
        ),
        Event(
            f"{name}#0003", name, "no_response", "agent", 8.0, 8.0, evaluable=False, why_not="the file ends"
        ),
    )


def _lane(spans: Sequence[tuple[float, float]], said: str) -> Lane:
    ipus = tuple(Interval(start, end) for start, end in spans)
    start = spans[0][0]
    words = tuple(Word(word, start + 0.3 * n, start + 0.3 * n + 0.25) for n, word in enumerate(said.split()))
    return Lane(ipus, ipus, tuple(Turn(ipu.start, ipu.end) for ipu in ipus), words, -80.0)


def write_run(
    folder: Path,
    latencies_s: Sequence[float],
    stops_s: Sequence[float | None],
    *,
    name: str = "by hand",
    with_sound: bool = True,
) -> Path:
    """One conversation a latency, named c01, c02, ...; the user hums at 220 Hz, the agent at 330."""
    (folder / "conversations").mkdir(parents=True)
    entries = []
    results = []
    for number, (latency_s, stop_s) in enumerate(zip(latencies_s, stops_s, strict=True), start=1):
        result = conversation(f"c{number:02d}", f"c{number:02d}.wav", latency_s, stop_s)
        results.append(result)
        file = f"conversations/{result.id}.json"
        (folder / file).write_text(dump(result), "utf-8")
        entries.append(ConversationEntry(result.id, result.audio, file, DURATION_S, ("bleed at -20 dB",)))
        if with_sound:
            write_sound(folder / result.audio, result)
    (folder / "metrics.json").write_text(dump(run_of(name, results, entries)), "utf-8")
    return folder


def run_of(
    name: str, results: Sequence[ConversationResult], entries: Sequence[ConversationEntry]
) -> RunResult:
    latencies = [
        event.value or 0.0 for result in results for event in result.events if event.type == "response"
    ]
    stops = [e.value or 0.0 for r in results for e in r.events if e.type == "interruption" and not e.censored]
    metrics = (
        distribution("response_latency", latencies),
        distribution("fto_user_to_agent", latencies),
        distribution("fto_agent_to_user", []),
        distribution("stop_latency", stops, censored=len(results) - len(stops)),
        rate("yield_rate", len(stops), len(results)),
        rate("premature_start_rate", 0, 0),
        rate("takeover_fdb_code", len(results), len(results)),
    )
    rejected = (Rejected("mono.wav", "one channel: two are needed"),)
    minutes = DURATION_S * len(results) / 60
    return RunResult(
        name, (METHOD,), tuple(entries), rejected, metrics, minutes, 2 * len(results), len(results), "0.1.0"
    )


def write_sound(path: Path, result: ConversationResult) -> None:
    samples = np.zeros((round(DURATION_S * RATE), 2), np.float32)
    times = np.arange(len(samples)) / RATE
    for channel, (lane, pitch) in enumerate(((result.user, 220.0), (result.agent, 330.0))):
        for ipu in lane.ipus:
            span = slice(round(ipu.start * RATE), round(ipu.end * RATE))
            samples[span, channel] = 0.2 * np.sin(2 * np.pi * pitch * times[span])
    soundfile.write(path, samples, RATE)
