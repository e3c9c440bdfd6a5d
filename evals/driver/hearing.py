"""Is the agent speaking, as far as one can hear by now? Energy in hops of 10 ms, nothing from the future.

A causal twin of the scorer's energy detector, with its numbers but a fixed threshold: the noise floor of
a whole recording is not known while it is made. It decides when the user speaks, and no score.
Refuses to know clocks: time is the number of samples heard.
"""

from __future__ import annotations

import numpy as np

from audio.frames import SAMPLE_RATE, Samples
from evals.thresholds import Thresholds

_SCORING = Thresholds()
HOP_SAMPLES = round(_SCORING.hop_s * SAMPLE_RATE)
THRESHOLD_DBFS = _SCORING.energy_floor_dbfs

_BURST = round(_SCORING.activity_min_s * SAMPLE_RATE)  # a shorter sound is a click
_BRIDGE = round(_SCORING.ipu_gap_s * SAMPLE_RATE)  # a shorter silence does not end speech


class Hearing:
    """Positions are in samples from the start.

    now: samples heard. speaking_since: where the speech that goes on began, None in silence.
    last_sound: where speech was last heard, 0 before any.
    """

    def __init__(self, threshold_dbfs: float = THRESHOLD_DBFS) -> None:
        self._threshold = threshold_dbfs
        self._burst = 0
        self.now = 0
        self.speaking_since: int | None = None
        self.last_sound = 0

    def hear(self, hop: Samples) -> None:
        """One hop, float32 [240]."""
        self.now += len(hop)
        self._burst = self._burst + len(hop) if level_dbfs(hop) >= self._threshold else 0
        if self._burst >= _BURST:
            if self.speaking_since is None:
                self.speaking_since = self.now - self._burst
            self.last_sound = self.now
        elif self.now - self._burst - self.last_sound >= _BRIDGE:
            self.speaking_since = None

    def spoke_for(self, since: int) -> int:
        """Samples of the speech that is heard right now, of which only those from `since` on count."""
        if self.speaking_since is None or self.last_sound < self.now:
            return 0
        return self.now - max(self.speaking_since, since)

    def silent_for(self, since: int) -> int:
        """Samples since the last speech, of which only those from `since` on count."""
        return self.now - max(self.last_sound, since)


def level_dbfs(samples: Samples) -> float:
    """RMS against full scale 1.0; digital silence is -inf."""
    power = float(np.mean(np.square(samples, dtype=np.float64))) if len(samples) else 0.0
    return 10 * float(np.log10(power)) if power > 0 else float("-inf")
