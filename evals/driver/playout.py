"""When the agent's audio is heard: a model of the receiver's jitter buffer. Pure: arrival times come in.

The first piece is held for `lead_s`; each further one follows the one before it without a seam. A piece
that comes after everything before it was heard finds the player dry: silence was heard meanwhile, and it
is held for `lead_s` again. So a burst is heard at its own pace, a late piece leaves silence where it was
missed, and nothing is dropped. A buffer with a lead of one frame is what duet_client's own loudspeaker
makes of a steady stream. Where a piece is heard depends on the arrivals alone, so that the recording can
be made again from arrivals.jsonl.
Refuses to know sockets and clocks.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass

import numpy as np

from audio.frames import FRAME_MS, SAMPLE_RATE, Samples

LEAD_S = FRAME_MS / 1000


@dataclass(frozen=True, slots=True)
class Piece:
    """`samples` of the agent's stream from `stream` on are heard from `ear` on; all in samples."""

    stream: int
    ear: int
    samples: int


class Playout:
    """Push what arrives, pull what is heard.

    gaps, gap_samples: how often and how long the player was dry between two pieces.
    """

    def __init__(self, lead_s: float = LEAD_S) -> None:
        self.pieces: list[Piece] = []
        self.gaps = 0
        self.gap_samples = 0
        self._lead = round(lead_s * SAMPLE_RATE)
        self._waiting: deque[tuple[int, Samples]] = deque()
        self._stream = 0  # received
        self._end = 0  # where on the ear's clock the last piece ends
        self._pulled = 0

    def push(self, arrived_s: float, samples: Samples) -> Piece:
        """A piece came in at `arrived_s`, which is not before what was pulled."""
        arrived = max(self._pulled, math.ceil(arrived_s * SAMPLE_RATE - 1e-6))
        dry = not self.pieces or arrived > self._end
        ear = arrived + self._lead if dry else self._end
        if dry and self.pieces:
            self.gaps += 1
            self.gap_samples += ear - self._end
        piece = Piece(self._stream, ear, len(samples))
        self.pieces.append(piece)
        self._waiting.append((ear, samples))
        self._stream += len(samples)
        self._end = ear + len(samples)
        return piece

    def pull(self, until: int) -> Samples:
        """What is heard up to sample `until`, float32 [until - what was pulled before]."""
        heard = np.zeros(until - self._pulled, np.float32)
        while self._waiting and self._waiting[0][0] < until:
            ear, samples = self._waiting.popleft()
            now, later = samples[: until - ear], samples[until - ear :]
            heard[ear - self._pulled : ear - self._pulled + len(now)] = now
            if len(later):
                self._waiting.appendleft((until, later))
        self._pulled = until
        return heard

    @property
    def received(self) -> int:
        """Samples of the agent's stream so far."""
        return self._stream

    @property
    def waiting_s(self) -> float:
        """Seconds that are there and not heard yet, the lead among them."""
        return max(0, self._end - self._pulled) / SAMPLE_RATE

    def ear_s(self, stream_s: float) -> float | None:
        """When a moment of the agent's stream is heard; None while its audio is not here."""
        sample = stream_s * SAMPLE_RATE
        if not 0 <= sample <= self._stream or not self.pieces:
            return None
        at = bisect_right(self.pieces, sample, key=lambda piece: piece.stream) - 1
        piece = self.pieces[at]
        return (piece.ear + sample - piece.stream) / SAMPLE_RATE
