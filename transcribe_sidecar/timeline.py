"""The sidecar's units: chunks of 32 ms at 16 kHz, spans in milliseconds of the session, a window to hear.

Refuses to know who measures speech and who hears words.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass

from audio.frames import Samples
from duet_client.wire import Channel

RATE = 16_000
CHUNK_SAMPLES = 512
CHUNK_MS = 1000 * CHUNK_SAMPLES // RATE
WHISPER_MS = 30_000
"""What Whisper hears at once; more would be cut off in silence."""


@dataclass(frozen=True, slots=True)
class Span:
    start_ms: int
    end_ms: int

    @property
    def length_ms(self) -> int:
        return self.end_ms - self.start_ms

    def overlap_ms(self, start_ms: int, end_ms: int) -> int:
        return min(self.end_ms, end_ms) - max(self.start_ms, start_ms)


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of one channel that is to be heard in one pass.

    samples: float32 at 16 kHz, beginning at `start_ms`. runs: where in it somebody speaks, in order.
    speech: the mean probability of speech in those runs. closing: nothing more will be added to it, so
    that every word up to `cut_ms` is final.
    """

    channel: Channel
    start_ms: int
    samples: Samples
    runs: tuple[Span, ...]
    speech: float
    closing: bool
    cut_ms: int

    @property
    def end_ms(self) -> int:
        return self.start_ms + len(self.samples) * 1000 // RATE

    @property
    def speech_ms(self) -> int:
        return sum(run.length_ms for run in self.runs)


def nearest(runs: tuple[Span, ...], start_ms: int, end_ms: int) -> Span | None:
    """The run that a span overlaps most, or the closest one; `runs` are in order."""
    at = bisect.bisect_left(runs, start_ms, key=lambda run: run.end_ms)
    near = runs[max(0, at - 1) : at + 3]
    return max(near, key=lambda run: run.overlap_ms(start_ms, end_ms), default=None)
