"""Samples and the bytes of audio/pcm: s16le, mono. Refuses to know rates and containers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]
Pcm16 = npt.NDArray[np.int16]

_FULL_SCALE = 32768.0


def to_pcm16(samples: npt.NDArray[Any]) -> Pcm16:
    """Float samples, nominal [-1, 1], as 16-bit ones, rounded and clipped; 16-bit ones as they are.

    Raises:
        ValueError: another type of samples, or one that is NaN or infinite.
    """
    if samples.dtype == np.int16:
        return samples
    if samples.dtype.kind != "f":
        raise ValueError(f"samples must be float or int16, not {samples.dtype}")
    if not np.isfinite(samples).all():
        raise ValueError("samples must be finite, and there is a NaN or an infinity among them")
    return np.clip(np.rint(samples * _FULL_SCALE), -_FULL_SCALE, _FULL_SCALE - 1).astype(np.int16)


def to_bytes(samples: npt.NDArray[Any]) -> bytes:
    """One channel of samples, shape [n], as s16le.

    Raises:
        ValueError: more than one dimension, or what `to_pcm16` refuses.
    """
    if samples.ndim != 1:
        raise ValueError(f"samples must be one channel of shape [n], not {list(samples.shape)}")
    return to_pcm16(samples).astype("<i2").tobytes()


def to_samples(data: bytes) -> Samples:
    """s16le as float32 in [-1, 1), shape [n]; the inverse of `to_bytes`.

    Raises:
        ValueError: half a sample at the end.
    """
    if len(data) % 2:
        raise ValueError(f"{len(data)} bytes are no whole number of 16-bit samples")
    return np.frombuffer(data, "<i2").astype(np.float32) / np.float32(_FULL_SCALE)
