"""Take-over, by Full-Duplex-Bench's rule for comparison with its tables, and by a window for use.

The FDB rule looks at the words of the whole file: two short backchannels far apart are a take-over,
and so is a greeting. The windowed one asks for an onset of the agent after the event.
"""

from __future__ import annotations

from collections.abc import Sequence

from evals.conversation import Annotation
from evals.events import event
from evals.intervals import Interval, starting_in
from evals.metrics.build import Measured, distribution, share
from evals.metrics.stopping import began_before
from evals.results import Event, Metric, Scoring
from evals.thresholds import Thresholds
from evals.turns import Talk
from evals.words import Word

EVENTS = ("turn_end", "pause", "interruption")


def fdb_takeover(words: Sequence[Word], words_max: float, thresholds: Thresholds) -> bool:
    """False without words, or where they are few and span less than the limit."""
    if not words:
        return False
    span = max(word.end for word in words) - min(word.start for word in words)
    return not (span < thresholds.fdb_turn_s and len(words) <= words_max)


def windowed_takeover(onsets: Sequence[Interval], event_s: float, window_s: float) -> bool:
    """The agent begins, with something else than a backchannel, from the event on and within the window."""
    return bool(starting_in(onsets, event_s, event_s + window_s + 1e-5))


def measure(talk: Talk, thresholds: Thresholds) -> Measured:
    found = Measured(tuple(_fdb(talk, thresholds)))
    for kind in EVENTS:
        told = talk.annotated(kind)
        if told:
            found += _windowed(talk, kind, told, thresholds)
    if not talk.annotated("turn_end"):
        ends = [Annotation("turn_end", Interval(turn.end, turn.end)) for turn in talk.user.turns]
        found += _windowed(talk, "turn_end", ends, thresholds, "inferred")
    return found


def _windowed(
    talk: Talk, kind: str, told: Sequence[Annotation], thresholds: Thresholds, scoring: Scoring = "annotated"
) -> Measured:
    name = f"takeover_windowed_{kind}"
    hits: list[bool] = []
    events: list[Event] = []
    for annotation in told:
        start, window = _window(annotation, thresholds)
        speaking = began_before(talk.agent.speech, start)
        over = windowed_takeover(talk.agent.speech, start, window)
        if not speaking:
            hits.append(over)
        events.append(
            event(
                "takeover",
                "agent",
                Interval(start, min(start + window, max(start, talk.duration_s))),
                value=None if speaking else float(over),
                unit="share",
                metric=name,
                scoring=scoring,
                evaluable=not speaking,
                why_not="the agent was speaking at the event" if speaking else "",
            )
        )
    rule = (
        "agent's onset in the pause"
        if kind == "pause"
        else f"agent's onset within {thresholds.takeover_window_s:g} s"
    )
    return Measured((share(name, hits, rule, scoring),), tuple(events))


def _window(annotation: Annotation, thresholds: Thresholds) -> tuple[float, float]:
    span = annotation.span
    if annotation.type == "pause":
        return span.start, span.duration
    return (span.end if annotation.type == "interruption" else span.start), thresholds.takeover_window_s


def _fdb(talk: Talk, thresholds: Thresholds) -> list[Metric]:
    """Nothing without words: whether the agent said any is not known then."""
    if talk.agent.words is None:
        return []
    interrupted = [a.span.end for a in talk.annotated("interruption")]
    words = [w for w in talk.agent.words if not interrupted or w.start >= interrupted[0]]
    code = fdb_takeover(words, thresholds.fdb_turn_words, thresholds)
    rule = (
        f"FDB code: not if under {thresholds.fdb_turn_s:g} s and at most {thresholds.fdb_turn_words:g} words"
    )
    metrics = [
        share("takeover_fdb_code", [code], rule, "measured"),
        share(
            "takeover_fdb_paper",
            [fdb_takeover(words, 1, thresholds)],
            f"FDB paper: not if under {thresholds.fdb_turn_s:g} s and fewer than two words",
            "measured",
        ),
    ]
    ends = interrupted or [a.span.start for a in talk.annotated("turn_end")]
    if ends:
        latencies = [max(0.0, min(w.start for w in words) - ends[0])] if code else []
        rule = "FDB: first word's start less the annotated end, negative as 0, of take-overs"
        metrics.append(distribution("response_latency_fdb", latencies, rule, "annotated"))
    return metrics
