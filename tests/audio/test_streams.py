"""Whole pipes: bytes of the wire to frames, frames to bytes of the wire."""

from __future__ import annotations

import numpy as np
import pytest

from audio.formats import encode
from audio.frames import Samples
from audio.streams import InputStream, OutputStream

FORMATS = [
    ("audio/pcm", 24_000),
    ("audio/pcm", 16_000),
    ("audio/pcmu", 8_000),
    ("audio/pcma", 8_000),
    ("audio/f32le", 48_000),
]


def chirp(rate: int, seconds: float) -> Samples:
    """100 to 3,000 Hz, so that a shift in time shows."""
    t = np.arange(round(rate * seconds)) / rate
    phase = 2 * np.pi * (100 * t + 2_900 / (2 * seconds) * t**2)
    return (0.5 * np.sin(phase)).astype(np.float32)


def frames_of(stream: InputStream, data: bytes, chunk: int) -> tuple[list[Samples], int]:
    frames = []
    for start in range(0, len(data), chunk):
        frames += stream.push(data[start : start + chunk])
    last, padding = stream.flush()
    return frames + last, padding


@pytest.mark.parametrize(("kind", "rate"), FORMATS)
def test_a_second_of_any_format_becomes_its_thirteen_frames_in_place(kind: str, rate: int) -> None:
    frames, padding = frames_of(InputStream(kind, rate), encode(kind, chirp(rate, 1.0)), chunk=333)
    assert [frame.shape for frame in frames] == [(1_920,)] * 13
    assert padding == 13 * 1_920 - 24_000
    got = np.concatenate(frames)
    error = (got[:24_000] - chirp(24_000, 1.0))[1_000:-1_000]
    assert np.abs(error).max() < 0.02  # G.711 steps are up to 1/64 at half scale
    assert not got[24_000:].any()


@pytest.mark.parametrize(("kind", "rate"), FORMATS)
def test_frames_become_exactly_as_much_audio_in_place(kind: str, rate: int) -> None:
    stream = OutputStream(kind, rate)
    audio = chirp(24_000, 0.96)
    data = b"".join(stream.push(frame) for frame in audio.reshape(-1, 1_920)) + stream.flush()
    back, padding = frames_of(InputStream(kind, rate), data, chunk=len(data))
    assert len(back) == 12
    assert padding == 0
    assert np.abs(np.concatenate(back) - audio)[1_000:-1_000].max() < 0.04


def test_flush_gives_two_frames_where_the_resampler_held_the_end_of_one() -> None:
    stream = InputStream("audio/pcm", 16_000)
    assert stream.push(bytes(2 * 1_285)) == []  # 80.3 ms, of which 10 and more are held
    frames, padding = stream.flush()
    assert len(frames) == 2
    assert padding == 2 * 1_920 - round(1_285 * 1.5)


def test_flush_of_nothing_gives_nothing() -> None:
    assert InputStream("audio/pcmu", 8_000).flush() == ([], 0)
    assert OutputStream("audio/pcmu", 8_000).flush() == b""


def test_what_is_held_is_told() -> None:
    stream = InputStream("audio/pcm", 24_000)
    stream.push(bytes(2 * 2_400))  # 100 ms: a frame and 20 ms
    assert stream.held_s == pytest.approx(0.020)
    telephone = InputStream("audio/pcmu", 8_000)
    telephone.push(b"\xff" * 800)  # 100 ms: a frame, 10 ms of the next, 10 that the filter must see
    assert telephone.held_s == pytest.approx(0.020)
    out = OutputStream("audio/pcmu", 8_000)
    assert len(out.push(np.zeros(1_920, np.float32))) == 560  # of 640: the first lacks 10 ms
    assert len(out.push(np.zeros(1_920, np.float32))) == 640
    assert out.held_s == pytest.approx(0.010)


def test_samples_that_are_no_numbers_are_silenced_and_counted_both_ways() -> None:
    bad = np.full(1_920, np.nan, np.float32)
    stream = InputStream("audio/f32le", 24_000)
    (frame,) = stream.push(bad.tobytes())
    assert not frame.any()
    assert stream.nonfinite == 1_920
    out = OutputStream("audio/pcm", 16_000)
    assert set(out.push(bad) + out.flush()) == {0}
    assert out.nonfinite == 1_920


def test_a_byte_that_is_no_whole_sample_is_told_at_the_end() -> None:
    stream = InputStream("audio/pcm", 24_000)
    stream.push(bytes(5))
    assert stream.flush()[1] == 1_918
    assert stream.pending_bytes == 1


@pytest.mark.parametrize("stream", [InputStream, OutputStream])
def test_a_format_that_is_not_known_is_refused(stream: type[InputStream] | type[OutputStream]) -> None:
    with pytest.raises(ValueError, match="kind must be one of"):
        stream("audio/mpeg", 24_000)
    with pytest.raises(ValueError, match="rate must be one of"):
        stream("audio/pcm", 32_000)
