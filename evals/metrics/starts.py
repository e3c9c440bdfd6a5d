"""The agent starts when it should not: in the user's pause, over the user, at the same moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evals.events import event
from evals.intervals import Interval, active_at, at_least, at_most, intersections, starting_in, total
from evals.metrics.build import Measured, distribution, per, share
from evals.metrics.stopping import began_before, together, utterances
from evals.results import Event, Scoring
from evals.thresholds import Thresholds
from evals.turns import Talk


@dataclass(frozen=True, slots=True)
class Collision:
    """Both speak from `span.start` until one yields at `span.end`. yields: "" where the file ends first."""

    span: Interval
    yields: str


def measure(talk: Talk, thresholds: Thresholds) -> Measured:
    return _pauses(talk, thresholds) + _over_the_user(talk, thresholds) + _collisions(talk, thresholds)


def _pauses(talk: Talk, thresholds: Thresholds) -> Measured:
    """Annotated pauses alone where there are any, else the silences inside the user's turns."""
    told = [a.span for a in talk.annotated("pause")]
    scoring: Scoring = "annotated" if told else "inferred"
    rule = f"agent's onset inside a pause of {thresholds.ipu_gap_s:g} to {thresholds.pause_max_s:g} s"
    events: list[Event] = []
    hits: list[bool] = []
    for pause in told or talk.pauses:
        speaking = began_before(talk.agent.speech, pause.start)
        onsets = starting_in(talk.agent.speech, pause.start, pause.end)
        more: dict[str, Any] = {"metric": "premature_start_rate", "rule": rule, "scoring": scoring}
        why_not = "the agent was speaking when the pause began" if speaking else ""
        events.append(
            event(
                "pause", "user", pause, value=pause.duration, evaluable=not speaking, why_not=why_not, **more
            )
        )
        if speaking:
            continue
        hits.append(bool(onsets))
        events += [
            event(
                "premature_start", "agent", onset, talk.agent.words, value=onset.start - pause.start, **more
            )
            for onset in onsets[:1]
        ]
    return Measured((share("premature_start_rate", hits, rule, scoring),), tuple(events))


def agent_interruptions(talk: Talk, thresholds: Thresholds) -> Iterator[tuple[Interval, float]]:
    """Each agent's turn that begins well before the end of a user's IPU, and its overlap in seconds."""
    for turn in talk.answers:
        ipu = active_at(talk.user.speech, turn.start)
        if ipu is None or at_most(ipu.end - turn.start, thresholds.terminal_overlap_s):
            continue
        if together(turn, talk.user.turns, thresholds) is None:
            yield turn, total(intersections([turn], talk.user.ipus))


def _over_the_user(talk: Talk, thresholds: Thresholds) -> Measured:
    found = list(agent_interruptions(talk, thresholds))
    rule = f"agent's onset with more than {thresholds.terminal_overlap_s:g} s of the user's IPU left"
    metrics = (
        per(
            "agent_interruption_rate",
            len(found),
            len(talk.user.turns),
            n=len(talk.user.turns),
            unit="per_turn",
            rule=rule + ", per user's turn",
            scoring="inferred",
        ),
        distribution("agent_interruption_overlap", (overlap for _, overlap in found), rule),
    )
    more: dict[str, Any] = {"metric": "agent_interruption_rate", "rule": rule}
    return Measured(
        metrics,
        tuple(event("agent_interruption", "agent", t, talk.agent.words, value=o, **more) for t, o in found),
    )


def collisions(talk: Talk, thresholds: Thresholds) -> tuple[Collision, ...]:
    """In order of time: simultaneous starts, and the user's resumption over a premature start."""
    both = [(turn, together(turn, talk.user.turns, thresholds)) for turn in talk.agent.turns]
    starts = [max(turn.start, user.start) for turn, user in both if user is not None]
    for pause in talk.pauses:
        for turn in starting_in(talk.premature, pause.start, pause.end):
            if turn.holds(pause.end):
                starts.append(pause.end)
    said = utterances(talk.user.speech, thresholds), utterances(talk.agent.speech, thresholds)
    found = []
    for start in sorted(starts):
        user, agent = active_at(said[0], start), active_at(said[1], start)
        if user is None or agent is None:
            continue
        end = min(user.end, agent.end)
        yields = "" if at_least(end, talk.duration_s) else "agent" if agent.end < user.end else "user"
        found.append(Collision(Interval(start, end), yields))
    return tuple(found)


def _collisions(talk: Talk, thresholds: Thresholds) -> Measured:
    found = collisions(talk, thresholds)
    known = [c for c in found if c.yields]
    rule = f"both begin within {thresholds.simultaneous_s:g} s, or the user resumes over a premature start"
    censored = len(found) - len(known)
    metrics = (
        per(
            "collision_per_min",
            len(found),
            talk.shared_minutes,
            n=len(found),
            unit="per_min",
            rule=rule,
            scoring="inferred",
        ),
        distribution("collision_resolution", (c.span.duration for c in known), rule, censored=censored),
        share("collision_agent_yield_rate", (c.yields == "agent" for c in known), rule, censored=censored),
    )
    return Measured(metrics, tuple(_event(c, rule) for c in found))


def _event(found: Collision, rule: str) -> Event:
    return event(
        "collision",
        "agent",
        found.span,
        value=found.span.duration,
        metric="collision_resolution",
        rule=rule,
        censored=not found.yields,
        tags=(f"{found.yields}_yields",) if found.yields else (),
    )
