"""Re-framing: chunks of any size go in, whole frames come out.

Refuses to know rates and formats: its samples are mono float32 at the frame's rate.
"""

from __future__ import annotations

import numpy as np

from audio.frames import FRAME_SAMPLES, Samples, silence


class Framer:
    """Holds back fewer than 1,920 samples, never more, whatever the chunks."""

    def __init__(self) -> None:
        self._rest: Samples = np.zeros(0, np.float32)

    @property
    def pending(self) -> int:
        """Samples that wait for the rest of their frame."""
        return len(self._rest)

    def push(self, samples: Samples) -> list[Samples]:
        """Take float32 [n]; return the whole frames, each float32 [1920], that are now complete."""
        waiting = np.concatenate([self._rest, samples])
        whole = len(waiting) // FRAME_SAMPLES * FRAME_SAMPLES
        self._rest = waiting[whole:].copy()  # a view would keep a long chunk alive
        return list(waiting[:whole].reshape(-1, FRAME_SAMPLES))

    def flush(self) -> tuple[Samples, int] | None:
        """The unfinished frame filled up with zeros, and how many zeros; None if nothing waits."""
        if not self.pending:
            return None
        frame = silence()
        frame[: self.pending] = self._rest
        padding = FRAME_SAMPLES - self.pending
        self._rest = self._rest[:0]
        return frame, padding
