"""The frame's numbers, which every wire and checkpoint relies on."""

from __future__ import annotations

from audio import frames


def test_a_frame_is_80_ms_of_24_khz() -> None:
    assert (frames.SAMPLE_RATE, frames.FRAME_SAMPLES, frames.FRAME_MS) == (24_000, 1_920, 80)
    assert frames.FRAME_SAMPLES * 1000 == frames.SAMPLE_RATE * frames.FRAME_MS


def test_silence_is_one_fresh_frame_of_zeros() -> None:
    first = frames.silence()
    first[0] = 1
    second = frames.silence()
    assert second.shape == (1_920,)
    assert second.dtype == "float32"
    assert not second.any()
