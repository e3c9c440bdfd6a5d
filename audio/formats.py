"""Sample formats: the bytes of a stream to float32 samples and back.

Scale: a 16-bit sample of value v is v / 32768, so that bytes -> samples -> bytes gives the same
bytes. Refuses to know rates' conversion, containers (a stream here is bare samples) and the wire.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from audio import g711
from audio.frames import Samples
from audio.g711 import Pcm16

PCM16_SCALE = 32_768
RATES = (8_000, 16_000, 24_000, 44_100, 48_000)


def check_rate(name: str, rate: int) -> None:
    """Raise ValueError, naming the field, unless `rate` is one of `RATES`."""
    if rate not in RATES:
        raise ValueError(f"{name} must be one of {', '.join(map(str, RATES))} Hz, not {rate!r}")


@dataclass(frozen=True, slots=True)
class _Codec:
    sample_bytes: int
    decode: Callable[[bytes], Samples]
    encode: Callable[[Samples], bytes]


def finite(samples: Samples) -> tuple[Samples, int]:
    """The samples with NaN and infinities made 0, and how many those were."""
    good = np.isfinite(samples)
    bad = len(samples) - int(np.count_nonzero(good))
    return (np.where(good, samples, np.float32(0)), bad) if bad else (samples, 0)


def to_pcm16(samples: Samples) -> Pcm16:
    """Round to int16; what is beyond [-1, 1] is clipped, what is not finite becomes 0."""
    scaled = np.rint(finite(samples)[0] * np.float32(PCM16_SCALE))
    pcm: Pcm16 = np.clip(scaled, -PCM16_SCALE, PCM16_SCALE - 1).astype(np.int16)
    return pcm


def from_pcm16(pcm: Pcm16) -> Samples:
    """int16 to float32 in [-1, 1)."""
    return pcm.astype(np.float32) / np.float32(PCM16_SCALE)


_CODECS = {
    "audio/pcm": _Codec(
        2,
        lambda data: from_pcm16(np.frombuffer(data, "<i2").astype(np.int16)),
        lambda samples: to_pcm16(samples).astype("<i2").tobytes(),
    ),
    "audio/pcmu": _Codec(
        1,
        lambda data: from_pcm16(g711.mulaw_decode(np.frombuffer(data, np.uint8))),
        lambda samples: g711.mulaw_encode(to_pcm16(samples)).tobytes(),
    ),
    "audio/pcma": _Codec(
        1,
        lambda data: from_pcm16(g711.alaw_decode(np.frombuffer(data, np.uint8))),
        lambda samples: g711.alaw_encode(to_pcm16(samples)).tobytes(),
    ),
    "audio/f32le": _Codec(
        4,
        lambda data: np.frombuffer(data, "<f4").astype(np.float32),
        lambda samples: finite(samples)[0].astype("<f4").tobytes(),
    ),
}
KINDS = tuple(_CODECS)


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """How the samples of a stream are written: one of `KINDS` at one of `RATES`, mono.

    "audio/pcm" is s16le, "audio/pcmu" and "audio/pcma" are G.711, "audio/f32le" is 32-bit float
    within [-1, 1], clipped on the way in.

    Raises:
        ValueError: another kind or rate; the message names the field and the allowed values.
    """

    kind: str
    rate: int

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {self.kind!r}")
        check_rate("rate", self.rate)


PCM16_24K = AudioFormat("audio/pcm", 24_000)
PCM16_16K = AudioFormat("audio/pcm", 16_000)
PCMU_8K = AudioFormat("audio/pcmu", 8_000)
PCMA_8K = AudioFormat("audio/pcma", 8_000)


class Decoder:
    """Bytes of any chunking to samples; a sample cut by a chunk's end waits for its other part.

    nonfinite: NaN and infinite samples that came in and were made 0.
    """

    def __init__(self, kind: str) -> None:
        self._codec = _CODECS[kind]
        self._rest = b""
        self.nonfinite = 0

    @property
    def pending_bytes(self) -> int:
        """Bytes of a sample that is not complete yet."""
        return len(self._rest)

    def push(self, data: bytes) -> Samples:
        """Take bytes; return float32 [n] within [-1, 1], the samples they complete."""
        waiting = self._rest + data
        whole = len(waiting) // self._codec.sample_bytes * self._codec.sample_bytes
        self._rest = waiting[whole:]
        samples, bad = finite(self._codec.decode(waiting[:whole]))
        self.nonfinite += bad
        return samples.clip(-1, 1)


def encode(kind: str, samples: Samples) -> bytes:
    """float32 [n] to the bytes of that kind. What is not finite becomes 0; integers clip."""
    return _CODECS[kind].encode(samples)
