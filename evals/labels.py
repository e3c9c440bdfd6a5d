"""What annotation tools exchange: labelled stretches of time on named tiers.

Refuses to know file formats and metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evals.conversation import CHANNELS, ChannelName, InputError
from evals.intervals import Interval, Intervals
from evals.results import ConversationResult, Event, Lane
from evals.words import RawWord, Word, text_of, within

IPU_TIERS: dict[ChannelName, str] = {"user": "user-ipu", "agent": "agent-ipu"}
WORD_TIERS: dict[ChannelName, str] = {"user": "user-words", "agent": "agent-words"}
EVENT_TIER = "events"
TIER_NAMES = ("user-ipu", "user-words", "agent-ipu", "agent-words", EVENT_TIER)
"""In the order in which they are written."""


@dataclass(frozen=True, slots=True, order=True)
class Label:
    """Text from `start` to `end` in seconds; a point where they are equal."""

    start: float
    end: float
    text: str = ""


Tiers = Mapping[str, tuple[Label, ...]]


@dataclass(frozen=True, slots=True, order=True)
class Segment:
    """Something that a speaker said, in seconds."""

    start: float
    end: float
    channel: ChannelName
    text: str
    probability: float | None = None


_NAMES: dict[str, ChannelName] = {
    "user": "user",
    "0": "user",
    "1": "user",
    "a": "user",
    "agent": "agent",
    "assistant": "agent",
    "2": "agent",
    "b": "agent",
}


def channel_of(name: str) -> ChannelName:
    """What files call the two channels. Raises InputError listing the names that are known."""
    found = _NAMES.get(name.strip().lower())
    if found is None:
        raise InputError(f"has a channel {name!r}; known are {', '.join(_NAMES)}")
    return found


def tiers_of(result: ConversationResult) -> dict[str, tuple[Label, ...]]:
    """The five tiers of a scored conversation."""
    tiers: dict[str, tuple[Label, ...]] = {}
    for channel in CHANNELS:
        lane = result.user if channel == "user" else result.agent
        tiers[IPU_TIERS[channel]] = tuple(Label(i.start, i.end, "ipu") for i in lane.ipus)
        tiers[WORD_TIERS[channel]] = tuple(Label(w.start, w.end, w.text) for w in lane.words)
    tiers[EVENT_TIER] = tuple(Label(e.start, e.end, event_text(e)) for e in result.events)
    return tiers


def event_text(event: Event) -> str:
    """Channel, type and value, as in "agent response 0.250"."""
    value = "" if event.value is None else f" {event.value:.3f}"
    return f"{event.channel} {event.type}{value}"


def segments_of(result: ConversationResult) -> tuple[Segment, ...]:
    """Each IPU with the words in it, in order of time."""
    found = [*_said("user", result.user), *_said("agent", result.agent)]
    return tuple(sorted(found))


def _said(channel: ChannelName, lane: Lane) -> list[Segment]:
    return [Segment(i.start, i.end, channel, text_of(within(lane.words, i))) for i in lane.ipus]


def word_segments(words: Iterable[Word]) -> tuple[Segment, ...]:
    return tuple(sorted(Segment(w.start, w.end, w.channel, w.text, w.probability) for w in words))


def spread(segments: Iterable[Segment]) -> dict[ChannelName, list[RawWord]]:
    """The words of each segment, evenly over its time: files of segments do not say more."""
    found: dict[ChannelName, list[RawWord]] = {"user": [], "agent": []}
    for segment in segments:
        texts = segment.text.split()
        step = (segment.end - segment.start) / len(texts) if texts else 0.0
        for n, text in enumerate(texts):
            start = segment.start + n * step
            found[segment.channel].append(RawWord(text, start, start + step, segment.probability))
    return found


def activity_of(segments: Iterable[Segment]) -> dict[ChannelName, Intervals]:
    """Where each channel speaks. Raises ValueError where a segment ends before it starts."""
    found: dict[ChannelName, list[Interval]] = {"user": [], "agent": []}
    for segment in segments:
        found[segment.channel].append(Interval(segment.start, segment.end))
    return {channel: tuple(sorted(spans)) for channel, spans in found.items()}
