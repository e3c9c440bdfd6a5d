"""The golden minute: tones on a 10 ms grid over a -80 dBFS floor, with everything known beforehand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evals.conversation import RATE, Conversation, Samples
from evals.intervals import Interval, Intervals
from evals.results import ConversationResult, Metric, find
from evals.scoring import Settings, score

DURATION_S = 60.0
NOISE = 1e-4
LEVEL = 0.2

USER = (
    (2.0, 4.0),
    (4.6, 6.0),
    (12.0, 13.5),
    (15.3, 15.7),
    (22.0, 24.0),
    (30.0, 33.0),
    (33.8, 36.0),
    (42.0, 43.0),
    (50.0, 51.0),
    (55.0, 58.5),
)
AGENT = (
    (0.2, 1.2),
    (6.25, 11.0),
    (13.3, 18.0),
    (20.0, 22.6),
    (25.5, 28.0),
    (33.4, 35.0),
    (37.0, 40.0),
    (51.8, 54.0),
    (56.5, 56.9),
)
Spans = tuple[tuple[float, float], ...]


def spans(pairs: Spans) -> Intervals:
    return tuple(Interval(*pair) for pair in pairs)


def channel(
    pairs: Spans, hertz: float, duration_s: float = DURATION_S, rate: int = RATE, seed: int = 0
) -> Samples:
    """A tone in each span, noise everywhere; float32."""
    rng = np.random.default_rng(seed)
    samples = rng.standard_normal(round(duration_s * rate)).astype(np.float32) * np.float32(NOISE)
    for start, end in pairs:
        first, last = round(start * rate), round(end * rate)
        times = np.arange(last - first) / rate
        samples[first:last] += (LEVEL * np.sin(2 * np.pi * hertz * times)).astype(np.float32)
    return samples


def conversation(user: Spans = USER, agent: Spans = AGENT, duration_s: float = DURATION_S) -> Conversation:
    return Conversation(
        "golden", "golden.wav", channel(user, 220, duration_s), channel(agent, 330, duration_s, seed=1)
    )


def scored(talk: Conversation | None = None, settings: Settings | None = None) -> ConversationResult:
    """By energy, for silero hears no tones."""
    settings = settings or Settings()
    return score(talk or conversation(), replace(settings, detector="energy"))


def metric(result: ConversationResult, name: str) -> Metric:
    found = find(result.metrics, name)
    assert found is not None, f"there is no {name}"
    return found
