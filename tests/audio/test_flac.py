"""FLAC made from a recording's WAV."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
import soundfile

from audio import flac, wav

DiskOf = Callable[[int], AbstractContextManager[None]]

FRAMES = 130  # more than one block of the conversion


@pytest.fixture
def source(tmp_path: Path) -> Path:
    noise = np.random.default_rng(3).uniform(-1, 1, (FRAMES, 2, 1_920)).astype(np.float32)
    path = tmp_path / "call.wav"
    path.write_bytes(wav.header(FRAMES) + b"".join(wav.pack(*frame) for frame in noise))
    return path


def test_flac_holds_the_same_samples(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "call.flac"
    flac.convert(source, target, FRAMES)
    want = wav.unpack(source.read_bytes()[wav.HEADER_BYTES :])
    assert np.array_equal(flac.read(target, 0, FRAMES), want)
    assert np.array_equal(flac.read(target, 128, 2), want[128 * 1_920 :])
    assert soundfile.info(target).subtype == "PCM_16"
    assert target.stat().st_mode & 0o777 == 0o600


def test_what_follows_the_frames_is_left_out(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "call.flac"
    flac.convert(source, target, 7)
    assert soundfile.info(target).frames == 7 * 1_920


@pytest.mark.parametrize("missing", [1, 1_000, 300_000])
def test_a_disk_that_fills_up_at_any_point_is_noticed(
    source: Path, tmp_path: Path, disk_of: DiskOf, missing: int
) -> None:
    whole = tmp_path / "whole.flac"
    flac.convert(source, whole, FRAMES)
    with disk_of(whole.stat().st_size - missing), pytest.raises(OSError, match="cannot write cut.flac"):
        flac.convert(source, tmp_path / "cut.flac", FRAMES)
