"""When the agent's turn is over. Pure.

Its turn ends once it has written nothing and its own audio has been quiet for QUIET_MS: longer than the
pauses inside a turn mostly are, so that what was silenced stays silenced to its end. Refuses to know why
anybody asks.
"""

from __future__ import annotations

import numpy as np

from audio.frames import FRAME_MS, Samples

QUIET_MS = 800
QUIET_FRAMES = QUIET_MS // FRAME_MS
QUIET_RMS = 10 ** (-50 / 20)
"""Of full scale: a codec's noise floor is below, a whisper above."""


class Turn:
    """Begins now, whether the agent speaks already or not."""

    def __init__(self) -> None:
        self._quiet = 0

    def goes_on(self, pcm: Samples, text: str) -> bool:
        """With the agent's next frame as the model made it. False once the turn is over with it."""
        quiet = not text and float(np.sqrt(np.mean(np.square(pcm)))) < QUIET_RMS
        self._quiet = self._quiet + 1 if quiet else 0
        return self._quiet < QUIET_FRAMES
