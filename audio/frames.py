"""The frame: the one unit of time of this project, and its constants, each derived once.

Refuses to know sockets, clocks and models.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SAMPLE_RATE = 24_000
FRAME_SAMPLES = 1_920
FRAME_MS = FRAME_SAMPLES * 1000 // SAMPLE_RATE
FRAME_RATE = SAMPLE_RATE / FRAME_SAMPLES

Samples = npt.NDArray[np.float32]
"""Mono audio, 1-D, nominally within [-1, 1]."""


def silence() -> Samples:
    """One frame of zeros."""
    return np.zeros(FRAME_SAMPLES, np.float32)
