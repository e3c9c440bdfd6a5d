"""The frame: 80 ms of mono audio, the one unit of time that every room shares.

Everything is derived from two numbers of the Moshi family (24 kHz audio, 12.5 frames a second).
Refuses to know where samples come from and where they go.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]
"""Mono audio, 1-D, nominally within [-1, 1]."""

SAMPLE_RATE = 24_000
FRAME_RATE = 12.5
FRAME_SAMPLES = round(SAMPLE_RATE / FRAME_RATE)
FRAME_MS = round(1000 / FRAME_RATE)


def silence() -> Samples:
    """One frame of zeros, float32 [1920]; a fresh array each time."""
    return np.zeros(FRAME_SAMPLES, np.float32)
