"""When frame n is due: an absolute schedule, so that no error adds up. Pure, `now` is an argument."""

from __future__ import annotations

import math
from dataclasses import dataclass

FRAME_S = 0.080


@dataclass(frozen=True, slots=True)
class Schedule:
    """Frame n is due at `start_s + n * 80 ms` of the caller's monotonic clock."""

    start_s: float

    @classmethod
    def on_grid(cls, now: float, phase: float) -> Schedule:
        """The first grid point from `now` on; callers with other phases in [0, 1) start in between."""
        grid = math.ceil(now / FRAME_S - phase)
        return cls((grid + phase) * FRAME_S)

    def due_s(self, frame: int) -> float:
        return self.start_s + frame * FRAME_S

    def wait_s(self, frame: int, now: float) -> float:
        """Seconds until frame `frame` is due, 0 where it already is."""
        return max(0.0, self.due_s(frame) - now)
