"""What the page's script gets of a conversation: its lanes and its events, as plain data.

Refuses to know HTML.
"""

from __future__ import annotations

import base64
from typing import Any

from evals.report.figures_in_words import number
from evals.report.look_of_events import look_of
from evals.report.sound import Sound
from evals.results import ConversationResult, Event, Lane

TIME_PLACES = 3


def lanes(result: ConversationResult) -> dict[str, Any]:
    """Both lanes, and one line about them."""
    return {"about": about(result), "user": _lane(result.user), "agent": _lane(result.agent)}


def peaks(sound: Sound) -> dict[str, str]:
    """One byte a step of each channel, as base64."""
    user, agent = (base64.b64encode(channel).decode() for channel in sound.peaks)
    return {"user": user, "agent": agent}


def about(result: ConversationResult) -> str:
    """One line on how this conversation was measured, and what is to be doubted."""
    method = result.method
    parts = [
        f"{result.duration_s:.1f} s",
        f"boundaries by {method.detector}, good to ±{method.detector_error_ms:.0f} ms",
        f"words by {method.words}" if method.words else "no words",
        f"recorded at: {method.origin}",
        *(f"warning: {warning}" for warning in result.warnings),
    ]
    return "; ".join(parts)


def _lane(lane: Lane) -> dict[str, Any]:
    return {
        "turns": [[_time(turn.start), _time(turn.end), turn.kind] for turn in lane.turns],
        "ipus": [[_time(ipu.start), _time(ipu.end)] for ipu in lane.ipus],
        "words": [[_time(word.start), _time(word.end), word.text.strip()] for word in lane.words],
    }


def event(event: Event) -> dict[str, Any]:
    """An event as the table and the timeline show it; `value` is what the table sorts by."""
    look = look_of(event.type)
    return {
        "id": event.id,
        "code": look.code,
        "name": look.name,
        "tone": look.tone if event.evaluable else "plain",
        "channel": event.channel,
        "start": _time(event.start),
        "end": _time(event.end),
        "value": event.value,
        "shown": shown_value(event),
        "rule": event.rule,
        "words": event.words,
        "scoring": event.scoring,
        "censored": event.censored,
        "evaluable": event.evaluable,
        "why": event.why_not,
        "tags": list(event.tags),
    }


def shown_value(event: Event) -> str:
    """A censored value is a lower bound; an event may have no value at all."""
    if event.value is None:
        return "not seen to end" if event.censored else "\N{EN DASH}"
    if event.unit == "share":
        return "yes" if event.value else "no"
    bound = "over " if event.censored else ""
    return bound + number(event.value, event.unit, signed=event.metric.startswith("fto"))


def _time(seconds: float) -> float:
    return round(seconds, TIME_PLACES)
