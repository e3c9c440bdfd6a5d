"""Talks from spans alone, for the metrics that need no sound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evals.conversation import RATE, Annotation, ChannelName, Conversation
from evals.intervals import Interval
from evals.metrics.build import Measured
from evals.results import Event, Metric, find
from evals.scoring import Settings, talked
from evals.thresholds import Thresholds
from evals.turns import Talk, talk_of
from evals.words import Word

Spans = Sequence[tuple[float, float]]


def talk(
    user: Spans,
    agent: Spans,
    duration_s: float = 60.0,
    *,
    words: dict[ChannelName, tuple[Word, ...]] | None = None,
    annotations: tuple[Annotation, ...] = (),
) -> Talk:
    silence = np.zeros(round(duration_s * RATE), np.float32)
    conversation = Conversation(
        "talk", "talk.wav", silence, silence, words=words or {}, annotations=annotations
    )
    both = [tuple(Interval(*pair) for pair in pairs) for pairs in (user, agent)]
    return talk_of(conversation, both[0], both[1], "duet", Thresholds())


def measured(found: Talk) -> Measured:
    return talked(found, Settings())


def metric(found: Talk, name: str) -> Metric:
    one = find(measured(found).metrics, name)
    assert one is not None, f"there is no {name}"
    return one


def events(found: Talk, kind: str) -> list[Event]:
    return [event for event in measured(found).events if event.type == kind]


def said(channel: ChannelName, *words: tuple[str, float, float]) -> dict[ChannelName, tuple[Word, ...]]:
    return {channel: tuple(Word(text, start, end, None, channel) for text, start, end in words)}


def note(kind: str, start: float, end: float) -> Annotation:
    return Annotation(kind, Interval(start, end))
