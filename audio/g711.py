"""The two companding laws of telephony, as look-up tables.

ITU-T G.711 gives the laws; the rounding of 16-bit input to the 14 (mu) and 13 (A) bits of the
tables is that of the reference code Sun published, which CPython's `audioop` also follows: an
arithmetic shift. Refuses to know floats and streams.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint8]
Pcm16 = npt.NDArray[np.int16]

_EVERY_PCM16 = np.arange(-32768, 32768, dtype=np.int32)
_EVERY_CODE = np.arange(256, dtype=np.int32)


def _segment(magnitude: npt.NDArray[np.int32], first_end: int) -> npt.NDArray[np.int32]:
    """Index of the chord a magnitude lies in; the first ends at `first_end`, each next doubles."""
    ends = (first_end << np.arange(8)) - 1
    return np.searchsorted(ends, magnitude).astype(np.int32)


def _mulaw_of_pcm16() -> Codes:
    value = _EVERY_PCM16 >> 2
    biased = np.minimum(np.abs(value), 8158) + 33
    segment = _segment(biased, 64)
    positive = segment << 4 | biased >> (segment + 1) & 0xF
    code: Codes = (positive ^ np.where(value < 0, 0x7F, 0xFF)).astype(np.uint8)
    return code


def _alaw_of_pcm16() -> Codes:
    value = _EVERY_PCM16 >> 3
    magnitude = np.where(value < 0, ~value, value)
    segment = _segment(magnitude, 32)
    positive = segment << 4 | magnitude >> np.maximum(segment, 1) & 0xF
    code: Codes = (positive ^ np.where(value < 0, 0x55, 0xD5)).astype(np.uint8)
    return code


def _pcm16_of_mulaw() -> Pcm16:
    code = ~_EVERY_CODE & 0xFF
    segment = code >> 4 & 7
    magnitude = ((((code & 0xF) << 1) + 33) << segment) - 33 << 2
    return np.where(code & 0x80, -magnitude, magnitude).astype(np.int16)


def _pcm16_of_alaw() -> Pcm16:
    code = _EVERY_CODE ^ 0x55
    segment = code >> 4 & 7
    step = ((code & 0xF) << 1) + 1
    magnitude = np.where(segment > 0, step + 32 << np.maximum(segment - 1, 0), step) << 3
    return np.where(code & 0x80, magnitude, -magnitude).astype(np.int16)


_MULAW_ENCODE, _MULAW_DECODE = _mulaw_of_pcm16(), _pcm16_of_mulaw()
_ALAW_ENCODE, _ALAW_DECODE = _alaw_of_pcm16(), _pcm16_of_alaw()


def mulaw_encode(pcm: Pcm16) -> Codes:
    """One code byte for each 16-bit sample."""
    return _MULAW_ENCODE[pcm.astype(np.int32) + 32768]


def mulaw_decode(codes: Codes) -> Pcm16:
    """One 16-bit sample for each code byte."""
    return _MULAW_DECODE[codes]


def alaw_encode(pcm: Pcm16) -> Codes:
    """One code byte for each 16-bit sample."""
    return _ALAW_ENCODE[pcm.astype(np.int32) + 32768]


def alaw_decode(codes: Codes) -> Pcm16:
    """One 16-bit sample for each code byte."""
    return _ALAW_DECODE[codes]
