"""Samples as s16le bytes and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from duet_client.pcm import to_bytes, to_samples


def test_samples_are_scaled_rounded_and_clipped_to_16_bits() -> None:
    samples = np.array([0.0, 0.5, -1.0, 1.0, 3.0, -3.0, 1 / 65536 * 3], np.float32)
    assert np.frombuffer(to_bytes(samples), "<i2").tolist() == [0, 16384, -32768, 32767, 32767, -32768, 2]


def test_every_16_bit_value_comes_back_as_it_went() -> None:
    everything = np.arange(-32768, 32768).astype("<i2")
    assert to_bytes(to_samples(everything.tobytes())) == everything.tobytes()
    assert to_bytes(everything.astype(np.int16)) == everything.tobytes()


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        (np.array([0.0, np.nan]), "finite"),
        (np.array([np.inf]), "finite"),
        (np.zeros((2, 2)), "one channel"),
        (np.zeros(2, np.int32), "float or int16"),
    ],
)
def test_samples_that_would_be_noise_are_refused(samples: np.ndarray[Any, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        to_bytes(samples)


def test_half_a_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="3 bytes"):
        to_samples(b"abc")
