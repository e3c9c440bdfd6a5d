"""Which words of a growing window are certain: those that two passes in a row agree on (local agreement).

Liu et al., Low-Latency Sequence-to-Sequence Speech Recognition, 2020; as in Machacek et al., Turning
Whisper into a Real-Time Transcription System, 2023. Refuses to know audio and time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from duet_client.wire import Word
from transcribe_sidecar.alignment import same, untold

TOLD_WORDS = 12
HOLD_MS = 300
"""A word that ends this close to the end of what was heard may be cut."""


class Agreement:
    """Words that are told are never taken back, and none begins before `through_ms` of its telling.

    told: the last words that were told, before this process began to listen, too.
    """

    def __init__(self, told: Sequence[Word] = (), through_ms: int = 0) -> None:
        self.told = deque(told, TOLD_WORDS)
        self.through_ms = through_ms
        self._supposed: tuple[Word, ...] = ()

    def supposed(self, heard: tuple[Word, ...], heard_to_ms: int) -> tuple[Word, ...]:
        """Words of a pass over a window that goes on after `heard_to_ms`; returns what is certain now."""
        new = heard[untold(tuple(self.told), heard) :]
        agreed = 0
        for before, now in zip(self._supposed, new, strict=False):
            if not same(before, now) or now.end_ms > heard_to_ms - HOLD_MS:
                break
            agreed += 1
        self._supposed = new[agreed:]
        following = self._supposed[0].start_ms if self._supposed else None
        return self._tell(new[:agreed], following)

    def settled(self, cut_ms: int) -> tuple[Word, ...]:
        """The last pass heard the end of the utterance: all of it is certain."""
        words, self._supposed = self._supposed, ()
        return self._final(words, cut_ms)

    def final(self, heard: tuple[Word, ...], cut_ms: int) -> tuple[Word, ...]:
        """Words of the last pass over a window; those whose middle is after the cut are left to the next.

        Where it heard nothing, what the pass before supposed is better than nothing.
        """
        supposed, self._supposed = self._supposed, ()
        new = heard[untold(tuple(self.told), heard) :] if heard else supposed
        return self._final(new, cut_ms)

    def quiet(self, until_ms: int) -> None:
        """Nobody speaks before `until_ms` who is not told."""
        self.through_ms = max(self.through_ms, until_ms)

    def _final(self, words: tuple[Word, ...], cut_ms: int) -> tuple[Word, ...]:
        told = self._tell(tuple(word for word in words if word.start_ms + word.end_ms < 2 * cut_ms), None)
        self.quiet(cut_ms)
        return told

    def _tell(self, words: tuple[Word, ...], following_ms: int | None) -> tuple[Word, ...]:
        """The words with starts that the telling before allows; `through_ms` moves to the end of the last."""
        told = []
        for word in words:
            start = max(word.start_ms, self.through_ms)
            told.append(replace(word, start_ms=start, end_ms=max(word.end_ms, start)))
        if told:
            last = told[-1]
            edge = last.end_ms if following_ms is None else min(last.end_ms, following_ms)
            self.through_ms = max(self.through_ms, edge, last.start_ms + 1)
            self.told.extend(told)
        return tuple(told)
