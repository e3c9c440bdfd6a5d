"""The user's channel: clips placed to the sample, several at once where they overlap.

Refuses to know why a clip is said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audio.frames import FRAME_SAMPLES, Samples

_FULL_SCALE = 32768.0


@dataclass(frozen=True, slots=True)
class _Placed:
    start: int
    samples: Samples


class Voice:
    """clipped: samples beyond full scale, which were cut to it."""

    def __init__(self) -> None:
        self.clipped = 0
        self._placed: list[_Placed] = []

    def say(self, start: int, pcm: npt.NDArray[np.int16], gain_db: float) -> None:
        """Place a clip, int16 [n]; what lies in frames that are gone is not heard any more."""
        gain = np.float32(10 ** (gain_db / 20) / _FULL_SCALE)
        self._placed.append(_Placed(start, pcm.astype(np.float32) * gain))

    def forget_from(self, start: int) -> None:
        """Do not say what would begin at `start` or later."""
        self._placed = [clip for clip in self._placed if clip.start < start]

    def frame(self, start: int) -> Samples:
        """float32 [1920] from sample `start` on, within [-1, 1)."""
        mixed = np.zeros(FRAME_SAMPLES, np.float32)
        for clip in self._placed:
            first = max(start, clip.start)
            last = min(start + FRAME_SAMPLES, clip.start + len(clip.samples))
            if first < last:
                mixed[first - start : last - start] += clip.samples[first - clip.start : last - clip.start]
        self.clipped += int(np.count_nonzero((mixed < -1) | (mixed > 1 - 1 / _FULL_SCALE)))
        self._placed = [clip for clip in self._placed if clip.start + len(clip.samples) > start]
        return np.clip(mixed, -1, 1 - 1 / _FULL_SCALE)
