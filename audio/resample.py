"""Streaming sample-rate conversion that keeps content in its place and holds back little.

soxr's own streaming mode works in blocks of its transform: measured at quality HQ it holds back
4 to 38 ms between 16, 24, 44.1 and 48 kHz and 12 to 73 ms from or to 8 kHz, in bursts, so that a
telephone call would lose up to two frames of time. Its variable-rate mode holds less but moves
content by up to a millisecond. So each hop of 20 ms is converted here by soxr in one shot, inside
a window with the 10 ms before it and the 10 ms after it: the filter reaches no further (the
result is within -103 dB of converting the whole stream at once), the 10 ms after are all that is
held back, and equal input gives equal output however it is chunked. Hops end 10 ms after a
multiple of 20, so that chunks of 20 ms, the usual ones, and frames leave no part of a hop waiting.

Refuses to know formats and frames.
"""

from __future__ import annotations

import numpy as np
import soxr

from audio.formats import check_rate
from audio.frames import Samples

HOP_S = 0.020
REACH_S = 0.010
_QUALITY = "HQ"


class Resampler:
    """One mono stream from `rate_in` to `rate_out`, both of `RATES`.

    After `flush`, output sample k is the input at time k / rate_out, and there are
    n * rate_out / rate_in of them, rounded, for n samples of input. Equal rates pass through.

    Raises:
        ValueError: a rate that is not one of `RATES`.
    """

    def __init__(self, rate_in: int, rate_out: int) -> None:
        check_rate("rate_in", rate_in)
        check_rate("rate_out", rate_out)
        self._rate_in, self._rate_out = rate_in, rate_out
        self._reach_in, self._hop_in = round(REACH_S * rate_in), round(HOP_S * rate_in)
        self._reach_out, self._hop_out = round(REACH_S * rate_out), round(HOP_S * rate_out)
        self._start()

    def _start(self) -> None:
        self._window: Samples = np.zeros(self._hop_in, np.float32)  # silence before the stream,
        self._lead = self._hop_out - self._reach_out  # of which the first hop converts this much
        self._received = self._given = 0

    @property
    def held_s(self) -> float:
        """Seconds of input not in the output yet: 10 ms and what is there of the next hop, under 30."""
        return self._received / self._rate_in - self._given / self._rate_out

    def push(self, samples: Samples) -> Samples:
        """Take float32 [n]; return float32 [m], what is certain by now."""
        self._received += len(samples)
        if self._rate_in == self._rate_out:
            self._given += len(samples)
            return samples
        self._window = np.concatenate([self._window, samples])
        hops = []
        start, span = 0, self._hop_in + 2 * self._reach_in
        while len(self._window) - start >= span:
            hops.append(self._convert(self._window[start : start + span]))
            start += self._hop_in
        self._window = self._window[start:].copy()
        return self._give(hops)

    def flush(self) -> Samples:
        """The rest of the stream, as if silence followed; a new stream may start after it."""
        total = (2 * self._received * self._rate_out + self._rate_in) // (2 * self._rate_in)
        missing = total - self._given
        tail = self.push(np.zeros(self._reach_in + self._hop_in, np.float32))[:missing]
        self._start()
        return tail

    def _convert(self, window: Samples) -> Samples:
        """[reach + hop + reach] at rate_in -> [hop] at rate_out."""
        converted: Samples = soxr.resample(window, self._rate_in, self._rate_out, quality=_QUALITY)
        return converted[self._reach_out : self._reach_out + self._hop_out]

    def _give(self, hops: list[Samples]) -> Samples:
        if not hops:
            return np.zeros(0, np.float32)
        samples = np.concatenate(hops)[self._lead :]
        self._lead = 0
        self._given += len(samples)
        return samples
