"""Any chunk sizes in, whole frames out."""

from __future__ import annotations

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from audio.framer import Framer


@given(st.lists(st.integers(0, 6_000), max_size=12))
def test_frames_hold_the_samples_in_order_whatever_the_chunks(sizes: list[int]) -> None:
    samples = np.arange(sum(sizes), dtype=np.float32)
    framer = Framer()
    frames = []
    for chunk in np.split(samples, np.cumsum(sizes)[:-1]) if sizes else []:
        frames += framer.push(chunk)
        assert framer.pending < 1_920
    assert [len(frame) for frame in frames] == [1_920] * (len(samples) // 1_920)
    assert framer.pending == len(samples) % 1_920
    assert np.array_equal(np.concatenate([np.zeros(0), *frames]), samples[: len(frames) * 1_920])


def test_flush_fills_the_last_frame_with_zeros_and_says_how_many() -> None:
    framer = Framer()
    framer.push(np.ones(1_921, np.float32))
    flushed = framer.flush()
    assert flushed is not None
    frame, padding = flushed
    assert padding == 1_919
    assert frame.tolist() == [1.0] + [0.0] * 1_919


def test_flush_of_whole_frames_gives_nothing() -> None:
    framer = Framer()
    framer.push(np.ones(3_840, np.float32))
    assert framer.flush() is None


def test_a_frame_does_not_change_when_the_caller_reuses_its_buffer() -> None:
    buffer = np.ones(1_920, np.float32)
    (frame,) = Framer().push(buffer)
    buffer[:] = 0
    assert frame.all()


def test_a_long_chunk_is_not_kept_for_the_few_samples_of_it_that_wait() -> None:
    framer = Framer()
    tracemalloc.start()
    try:
        framer.push(np.zeros(5_000_000, np.float32))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert framer.pending == 320
    assert kept < 100_000
