"""What an agent did in a call: when it spoke, what it answered. Pure, on sound and text.

Times are seconds of the call. Refuses to know models, voices and Whisper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audio.frames import SAMPLE_RATE, Samples
from model.training.counts import spoken_words

BLOCK_S = 0.02
LOUD = 0.02
"""Peak of a block in which the agent speaks; its voice peaks near 0.6."""
HELD_S = 0.4
"""A gap between words is shorter; one between sentences may not be."""
UNLIKE = 0.34
"""Share of wrong words from which a text is none of the answers."""


@dataclass(frozen=True, slots=True)
class Activity:
    """active: a flag for each 20 ms."""

    active: npt.NDArray[np.bool_]

    @staticmethod
    def of(samples: Samples) -> Activity:
        size = int(BLOCK_S * SAMPLE_RATE)
        peaks = np.abs(samples[: len(samples) // size * size]).reshape(-1, size).max(axis=1)
        return Activity(peaks > LOUD)

    def within(self, start_s: float, end_s: float) -> float:
        """The share of this time in which the agent speaks."""
        part = self.active[_block(start_s) : max(_block(start_s) + 1, _block(end_s))]
        return float(part.mean()) if len(part) else 0.0

    def first(self, start_s: float, end_s: float = np.inf) -> float | None:
        """When it first speaks after a time."""
        last = len(self.active) if np.isinf(end_s) else _block(end_s)
        found = np.flatnonzero(self.active[_block(start_s) : last])
        return start_s + float(found[0]) * BLOCK_S if len(found) else None

    def silent_from(self, start_s: float, held_s: float = HELD_S) -> float | None:
        """When, after a time, it begins to be silent for so long."""
        held = int(held_s / BLOCK_S)
        first = _block(start_s)
        for block in range(first, len(self.active) - held + 1):
            if not self.active[block : block + held].any():
                return start_s + (block - first) * BLOCK_S
        return None


def _block(time_s: float) -> int:
    return max(0, round(time_s / BLOCK_S))


def topic_of(text: str, answers: Mapping[str, Sequence[str]]) -> str | None:
    """The topic whose answer begins like the text; None when none does or nothing was said."""
    said = spoken_words(text)
    if not said:
        return None
    scores = {
        topic: min(beginning_errors(said, spoken_words(answer)) for answer in lines)
        for topic, lines in answers.items()
    }
    best = min(scores, key=lambda topic: scores[topic])
    return best if scores[best] <= UNLIKE * len(said) else None


def beginning_errors(said: Sequence[str], answer: Sequence[str]) -> int:
    """The fewest word errors against any beginning of the answer, or all of it if it is shorter."""
    row = list(range(len(answer) + 1))
    for count, word in enumerate(said, 1):
        before, row[0] = row[0], count
        for at, other in enumerate(answer, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (word != other))
    return min(row)
