"""The header of a recording: what other programs read from it, below and above 4 GiB."""

from __future__ import annotations

import io
import os
import struct
import wave
from pathlib import Path

import numpy as np
import pytest
import soundfile

from audio import wav

LAST_OF_RIFF = 559_240  # frames: 72 + 559,240 * 7,680 bytes is the most that 32 bits can say

TONE = (0.5 * np.sin(np.arange(1_920) / 10)).astype(np.float32)


def test_a_header_says_two_channels_of_16_bits_at_24_khz_and_the_sizes() -> None:
    head = wav.header(3)
    assert len(head) == 80
    assert head[:12] == b"RIFF" + struct.pack("<I", 72 + 3 * 7_680) + b"WAVE"
    assert head[12:48] == b"JUNK" + struct.pack("<I", 28) + bytes(28)
    assert head[48:72] == b"fmt " + struct.pack("<IHHIIHH", 16, 1, 2, 24_000, 96_000, 4, 16)
    assert head[72:] == b"data" + struct.pack("<I", 3 * 7_680)


def test_the_standard_library_reads_what_is_packed() -> None:
    with wave.open(io.BytesIO(wav.header(1) + wav.pack(TONE, -TONE))) as reader:
        assert reader.getparams()[:4] == (2, 2, 24_000, 1_920)
        samples = np.frombuffer(reader.readframes(1_920), "<i2").reshape(-1, 2)
    assert np.array_equal(samples[:, 0], np.rint(TONE * 32_768))
    assert np.array_equal(samples[:, 0], -samples[:, 1])


def test_unpack_gives_back_both_channels() -> None:
    got = wav.unpack(wav.pack(TONE, np.zeros(1_920, np.float32)))
    assert got.shape == (1_920, 2)
    assert np.abs(got[:, 0] - TONE).max() <= 0.5 / 32_768
    assert not got[:, 1].any()


@pytest.mark.parametrize(("user", "agent", "name"), [(1_919, 1_920, "user"), (1_920, 0, "agent")])
def test_channels_of_unequal_length_are_refused(user: int, agent: int, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be one frame of 1920 samples"):
        wav.pack(np.zeros(user, np.float32), np.zeros(agent, np.float32))


def test_a_file_becomes_rf64_with_the_frame_that_32_bits_cannot_count() -> None:
    assert wav.header(LAST_OF_RIFF)[:4] == b"RIFF"
    head = wav.header(LAST_OF_RIFF + 1)
    assert len(head) == 80
    assert head[:20] == b"RF64\xff\xff\xff\xffWAVEds64" + struct.pack("<I", 28)
    sizes = struct.unpack("<QQQI", head[20:48])
    assert sizes == (72 + 559_241 * 7_680, 559_241 * 7_680, 559_241 * 1_920, 0)
    assert head[72:] == b"data\xff\xff\xff\xff"


def test_other_programs_read_past_four_gib(tmp_path: Path) -> None:
    frames = LAST_OF_RIFF + 100
    path = tmp_path / "long.wav"
    with path.open("wb") as file:
        file.write(wav.header(frames))
        file.seek(wav.offset(frames - 1))  # a hole: the disk holds only what is written
        file.write(wav.pack(TONE, -TONE))
    assert path.stat().st_size > 2**32
    assert path.stat().st_blocks * 512 < 2**20
    with soundfile.SoundFile(path) as reader:
        assert (reader.frames, reader.channels, reader.samplerate) == (frames * 1_920, 2, 24_000)
        reader.seek((frames - 1) * 1_920)
        assert np.abs(reader.read()[:, 0] - TONE).max() <= 0.5 / 32_768
    os.remove(path)


@pytest.mark.parametrize("file_bytes", [0, 79, 80, 7_759, 7_760, 7_761, 15_440])
def test_a_length_holds_the_frames_that_are_whole(file_bytes: int) -> None:
    want = {0: 0, 79: 0, 80: 0, 7_759: 0, 7_760: 1, 7_761: 1, 15_440: 2}[file_bytes]
    assert wav.whole_frames(file_bytes) == want


def test_our_files_are_told_from_those_of_others() -> None:
    assert wav.is_ours(wav.header(0))
    assert wav.is_ours(wav.header(LAST_OF_RIFF + 1))
    assert wav.is_ours(wav.header(0)[:30])
    other = io.BytesIO()
    soundfile.write(other, np.zeros((100, 2)), 24_000, format="WAV")
    assert not wav.is_ours(other.getvalue()[:80])
    assert not wav.is_ours(b"OggS")
