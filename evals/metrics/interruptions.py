"""The user interrupts the agent: does it stop, how soon, and when does it speak again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evals.conversation import Annotation
from evals.events import event
from evals.intervals import EPSILON_S, Interval, active_at, at_least, at_most, starting_in
from evals.metrics.build import Measured, distribution, share
from evals.metrics.stopping import Stop, extent, natural_end, stop_after, together, utterances
from evals.results import Event, Scoring
from evals.thresholds import Thresholds
from evals.turns import Talk


@dataclass(frozen=True, slots=True)
class Interruption:
    """A user's turn that begins while the agent speaks.

    latency_s: the agent's last sound less the user's onset. yielded: None where the file ends
    before it can be told. recovery_s: the agent's next onset less the turn's end, None without one.
    """

    turn: Interval
    latency_s: float
    yielded: bool | None
    natural: bool
    recovery_s: float | None


def interruptions(talk: Talk, thresholds: Thresholds) -> tuple[Interruption, ...]:
    """Every user's turn whose onset meets an agent that has spoken for `agent_began_s` or longer.

    Not where a turn of the agent begins at the same moment, after a sentence pause: that is a collision.
    """
    spoken = utterances(talk.agent.speech, thresholds)
    found = []
    for turn in talk.user.turns:
        said = active_at(spoken, turn.start)
        if said is None or not at_least(turn.start - said.start, thresholds.agent_began_s):
            continue
        if together(turn, talk.agent.turns, thresholds) is None:
            found.append(_interruption(talk, turn, thresholds))
    return tuple(found)


def _interruption(talk: Talk, turn: Interval, thresholds: Thresholds) -> Interruption:
    stop = stop_after(talk.agent.speech, turn.start, turn.end, talk.duration_s, thresholds)
    latency = round(stop.at_s - turn.start, 6)
    yielded: bool | None = at_most(latency, thresholds.yield_s)
    if yielded and not stop.seen:
        yielded = None
    natural = natural_end(talk.agent, stop.at_s)
    return Interruption(turn, latency, yielded, natural, _recovery(talk, turn, stop, thresholds))


def _recovery(talk: Talk, turn: Interval, stop: Stop, thresholds: Thresholds) -> float | None:
    """From the turn's last half second on, before the user speaks again, and within the response window.

    An agent that speaks again sooner speaks over the user: it has recovered from nothing.
    """
    limit = turn.end + thresholds.response_window_s
    following = starting_in(talk.user.turns, turn.end, limit)
    limit = following[0].start if following else limit
    earliest = max(stop.at_s + 2 * EPSILON_S, turn.end - thresholds.terminal_overlap_s)
    onsets = starting_in(talk.agent.speech, earliest, limit)
    return round(onsets[0].start - turn.end, 6) if onsets else None


def measure(talk: Talk, thresholds: Thresholds) -> Measured:
    """Of the annotated interruptions alone where there are any, else of every one found."""
    found = interruptions(talk, thresholds)
    told = talk.annotated("interruption")
    scoring: Scoring = "annotated" if told else "inferred"
    silent: list[Annotation] = []
    if told:
        found, silent = _matched(found, told)
    known = [i for i in found if i.yielded is not None]
    stopped = [i for i in known if i.yielded]
    rule = f"agent's last sound before {thresholds.stop_silence_s:g} s of silence or the user's turn end"
    limit = f"{rule}, within {thresholds.yield_s:g} s"
    missed = len(found) - len(stopped)
    recovered = [i.recovery_s for i in stopped if i.recovery_s is not None]
    metrics = (
        distribution("stop_latency", (i.latency_s for i in stopped), limit, scoring, censored=missed),
        share(
            "yield_rate", (bool(i.yielded) for i in known), limit, scoring, censored=len(found) - len(known)
        ),
        share(
            "no_yield_rate", (not i.yielded for i in known), limit, scoring, censored=len(found) - len(known)
        ),
        distribution("recovery_latency", recovered, "agent's next onset less the user's turn end", scoring),
    )
    events = [e for i in found for e in _events(talk, i, scoring, limit)]
    return Measured(metrics, (*events, *(_not_evaluable(a) for a in silent)))


def _matched(
    found: tuple[Interruption, ...], told: tuple[Annotation, ...]
) -> tuple[tuple[Interruption, ...], list[Annotation]]:
    """The interruption whose turn begins in each annotated span, and the spans without one."""
    kept, silent = [], []
    for annotation in told:
        inside = [i for i in found if i.turn.overlap(annotation.span) > 0]
        if inside:
            kept.append(inside[0])
        else:
            silent.append(annotation)
    return tuple(dict.fromkeys(kept)), silent


def _events(talk: Talk, found: Interruption, scoring: Scoring, rule: str) -> Iterator[Event]:
    tags = ("natural_end?",) if found.natural else ()
    stop = found.turn.start + found.latency_s
    yield event(
        "interruption",
        "user",
        extent(found.turn.start, stop),
        talk.user.words,
        value=found.latency_s,
        metric="stop_latency",
        rule=rule,
        scoring=scoring,
        censored=not found.yielded,
        evaluable=found.yielded is not None,
        why_not="the file ends while the agent speaks" if found.yielded is None else "",
        tags=tags,
    )
    if found.yielded and found.recovery_s is not None:
        yield event(
            "recovery",
            "agent",
            extent(found.turn.end, found.turn.end + found.recovery_s),
            value=found.recovery_s,
            metric="recovery_latency",
            rule="agent's next onset less the user's turn end",
            scoring=scoring,
        )


def _not_evaluable(annotation: Annotation) -> Event:
    return event(
        "interruption",
        "user",
        annotation.span,
        metric="stop_latency",
        scoring="annotated",
        evaluable=False,
        why_not="the agent was not speaking when the user began",
    )
