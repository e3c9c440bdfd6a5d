"""Whether an agent says what its model writes: both as words, compared over a window that moves along.

The measure is the word error rate of what Whisper heard against what the model wrote, over the longer of
the two. The figures below, and why:

- The window is 30 s. A model speaks 60 to 80 words in it, so that one misheard name moves the rate by less
  than 2 %, and half a minute of other words is found within half a minute.
- A window of fewer than 10 words on both sides says nothing and changes nothing.
- An episode begins at 0.5 and ends below 0.4. Whisper tiny.en mishears 5 % to 15 % of clear synthetic
  speech, and spells numbers otherwise; half the words wrong is no mishearing. The gap keeps one episode
  from being told many times.
- A model writes a word up to 1 s before or after it sounds: what was heard so much before and after
  the window belongs to no other word, and is not held against it.

Pure. Refuses to know who is told of it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import jiwer

from duet_client.wire import Word

WINDOW_MS = 30_000
SLACK_MS = 1_000
EVERY_MS = 5_000
"""Of the agent's channel, between two comparisons; one takes less than 1 ms."""
FEWEST_WORDS = 10
BEGINS_AT = 0.5
ENDS_BELOW = 0.4
WRITTEN_MOST = 10_000
"""Words that wait to be compared: an hour of an agent that nobody has transcribed so far."""
EPISODES_TOLD = 100
"""An agent that wavers for hours has no more in its metadata; the count goes on."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

Timed = tuple[int, str]


@dataclass(slots=True)
class Episode:
    """A stretch of the agent's channel where the two disagree. worst: the highest rate in it."""

    from_ms: int
    to_ms: int
    worst: float


class Agreement:
    """episodes: the first EPISODES_TOLD. begun: how many there were. worst: highest rate, None before any."""

    def __init__(self) -> None:
        self.episodes: list[Episode] = []
        self.begun = 0
        self.worst: float | None = None
        self._written: deque[Timed] = deque(maxlen=WRITTEN_MOST)
        self._heard: deque[Timed] = deque()
        self._next_ms = EVERY_MS
        self._running: Episode | None = None

    def wrote(self, text: str, start_ms: int) -> None:
        """The model wrote this."""
        self._written += [(start_ms, word) for word in _WORD.findall(text.lower())]

    def heard(self, words: Sequence[Word], through_ms: int) -> Episode | None:
        """Whisper heard these and has heard all through `through_ms`. An episode, where one begins."""
        self._heard += [(each.start_ms, word) for each in words for word in _WORD.findall(each.word.lower())]
        if through_ms < self._next_ms:
            return None
        self._next_ms = through_ms + EVERY_MS
        to_ms = through_ms - SLACK_MS
        from_ms = to_ms - WINDOW_MS
        _forget_before(self._written, from_ms)
        _forget_before(self._heard, from_ms - SLACK_MS)
        rate = error_rate([text for start, text in self._written if start < to_ms], _texts(self._heard))
        return self._judge(rate, max(0, from_ms), to_ms) if rate is not None else None

    def _judge(self, rate: float, from_ms: int, to_ms: int) -> Episode | None:
        self.worst = max(rate, self.worst or 0.0)
        if self._running is not None:
            self._running.to_ms = to_ms
            self._running.worst = max(rate, self._running.worst)
            if rate < ENDS_BELOW:
                self._running = None
        elif rate >= BEGINS_AT:
            self._running = Episode(from_ms, to_ms, rate)
            self.begun += 1
            if len(self.episodes) < EPISODES_TOLD:
                self.episodes.append(self._running)
            return self._running
        return None


def error_rate(written: list[str], heard: list[str]) -> float | None:
    """Errors by word, 0 to 1, over the longer side; None where both are too short to say anything.

    Words that were heard before the first match and after the last one are no errors: they may be a
    neighbour's.
    """
    if max(len(written), len(heard)) < FEWEST_WORDS:
        return None
    if not written or not heard:
        return 1.0
    found = jiwer.process_words(" ".join(written), " ".join(heard))
    chunks = found.alignments[0]
    outside = sum(
        chunk.hyp_end_idx - chunk.hyp_start_idx
        for chunk in chunks[:1] + chunks[1:][-1:]
        if chunk.type == "insert"
    )
    errors = found.substitutions + found.deletions + found.insertions - outside
    return min(1.0, errors / max(len(written), len(heard) - outside))


def _forget_before(words: deque[Timed], ms: int) -> None:
    while words and words[0][0] < ms:
        words.popleft()


def _texts(words: deque[Timed]) -> list[str]:
    return [text for _, text in words]
