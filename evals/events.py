"""The types of events, and how they are made and numbered. Refuses to know how they are found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from evals.conversation import ChannelName
from evals.intervals import Interval
from evals.results import Event
from evals.words import Word, text_of, within

TYPES = {
    "response": "the user's turn ends, the agent's begins; value: floor-transfer offset",
    "no_response": "the user's turn ended and the agent did not answer",
    "transfer_to_user": "the agent's turn ends, the user's begins; value: floor-transfer offset",
    "within_overlap": "a turn inside the other's turn; value: its length",
    "greeting": "the agent speaks before the user's first sound",
    "interruption": "the user begins while the agent speaks; value: stop latency",
    "recovery": "the agent speaks again after it was interrupted; value: recovery latency",
    "agent_interruption": "the agent begins while the user has more to say; value: overlap",
    "pause": "the user pauses inside a turn; value: its length",
    "premature_start": "the agent begins inside the user's pause",
    "collision": "both begin at once, or the user resumes over a premature start; value: overlap",
    "backchannel": "a short sound into the other's speech",
    "short_overlap": "the same without words: it could also be a short interruption",
    "user_sound": "a sound of the user that is not meant to stop the agent, while it speaks",
    "side_sound": "a sound of the user that is not meant for the agent, while it is silent",
    "takeover": "an annotated event; the agent took over within the window or did not",
    "dropout": "exact zeros inside the agent's speech; value: length",
    "cutoff": "a sudden fall of the agent's level; value: fall in dB",
    "log_difference": "latency in the server's log less latency in the recording",
}


def event(
    kind: str, channel: ChannelName, span: Interval, words: tuple[Word, ...] | None = None, **more: Any
) -> Event:
    """An event that has no number yet; `words` are the channel's, of which those in the span are kept."""
    said = text_of(within(words, span)) if words else ""
    return Event("", "", kind, channel, span.start, span.end, words=said, **more)


def numbered(events: Iterable[Event], conversation: str) -> tuple[Event, ...]:
    """In order of time, with their ids."""
    order = sorted(events, key=lambda e: (e.start, e.end, e.type, e.channel))
    return tuple(
        replace(one, id=f"{conversation}#{n:04d}", conversation=conversation)
        for n, one in enumerate(order, 1)
    )
