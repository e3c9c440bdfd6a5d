"""A stream of the outside world to frames of the inside, and back.

Each is a pipe of parts: decode, resample, re-frame; resample, encode. Refuses to know where the
bytes travel.
"""

from __future__ import annotations

from audio.formats import AudioFormat, Decoder, encode, finite
from audio.framer import Framer
from audio.frames import SAMPLE_RATE, Samples
from audio.resample import Resampler


class InputStream:
    """Bytes of `kind` at `rate` in, frames of 24 kHz out.

    Raises:
        ValueError: a kind or rate that `AudioFormat` does not know.
    """

    def __init__(self, kind: str, rate: int) -> None:
        form = AudioFormat(kind, rate)
        self._decoder = Decoder(form.kind)
        self._resampler = Resampler(form.rate, SAMPLE_RATE)
        self._framer = Framer()

    @property
    def nonfinite(self) -> int:
        """Samples that came in as NaN or infinite and were made 0."""
        return self._decoder.nonfinite

    @property
    def pending_bytes(self) -> int:
        """Bytes of an unfinished sample; what is left of them after the last push is lost."""
        return self._decoder.pending_bytes

    @property
    def held_s(self) -> float:
        """Seconds of audio received that are in no frame yet."""
        return self._resampler.held_s + self._framer.pending / SAMPLE_RATE

    def push(self, data: bytes) -> list[Samples]:
        """Take bytes of any length; return the frames, each float32 [1920], they complete."""
        return self._framer.push(self._resampler.push(self._decoder.push(data)))

    def flush(self) -> tuple[list[Samples], int]:
        """End of the stream: the last frames and how many samples of the last are padding.

        Up to two frames: what the resampler held back may complete one and begin the next.
        """
        frames = self._framer.push(self._resampler.flush())
        last = self._framer.flush()
        return (frames, 0) if last is None else ([*frames, last[0]], last[1])


class OutputStream:
    """Frames of 24 kHz in, bytes of `kind` at `rate` out.

    nonfinite: samples that came in as NaN or infinite and were made 0.

    Raises:
        ValueError: a kind or rate that `AudioFormat` does not know.
    """

    def __init__(self, kind: str, rate: int) -> None:
        self._format = AudioFormat(kind, rate)
        self._resampler = Resampler(SAMPLE_RATE, rate)
        self.nonfinite = 0

    @property
    def held_s(self) -> float:
        """Seconds of audio pushed that are in no bytes yet."""
        return self._resampler.held_s

    def push(self, frame: Samples) -> bytes:
        """Take float32 [n]; return the bytes that are certain by now."""
        clean, bad = finite(frame)
        self.nonfinite += bad
        return encode(self._format.kind, self._resampler.push(clean))

    def flush(self) -> bytes:
        """The bytes of what the resampler held back."""
        return encode(self._format.kind, self._resampler.flush())
