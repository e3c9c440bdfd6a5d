"""Recordings in and out of files."""

from __future__ import annotations

import gc
import resource
import struct
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

from duet_client.errors import CommandError
from duet_client.media import TwoChannelWav, read_recording

VALUES = [0, 1, -1, 256, -32768, 32767]


def write_wav(path: Path, data: bytes, *, width: int = 2, channels: int = 1, rate: int = 24_000) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(data)
    return path


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the optional packages."""
    for name in ("soundfile", "sphn", "soxr"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("width", "data", "expected"),
    [
        (1, bytes([128, 129, 127, 0, 255]), [0, 256, -256, -32768, 32512]),
        (2, struct.pack("<6h", *VALUES), VALUES),
        (3, b"".join(b"\x7f" + struct.pack("<h", value) for value in VALUES), VALUES),
        (4, b"".join(b"\x7f\xff" + struct.pack("<h", value) for value in VALUES), VALUES),
    ],
)
def test_plain_wav_of_any_width_needs_no_other_package(
    tmp_path: Path, width: int, data: bytes, expected: list[int]
) -> None:
    samples, channels = read_recording(write_wav(tmp_path / "a.wav", data, width=width))
    assert (samples.tolist(), channels) == (expected, 1)


def test_the_chosen_channel_is_played(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "two.wav", struct.pack("<4h", 1, 10, 2, 20), channels=2)
    assert read_recording(path, 0)[0].tolist() == [1, 2]
    assert read_recording(path, 1)[0].tolist() == [10, 20]
    with pytest.raises(CommandError, match="channels 0 to 1, not 2"):
        read_recording(path, 2)


def test_another_rate_is_resampled_and_another_format_is_read(tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    pytest.importorskip("soxr")
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(48_000) / 48_000)
    path = tmp_path / "tone.flac"
    soundfile.write(path, tone, 48_000)
    samples, _ = read_recording(path)
    assert len(samples) == 24_000
    middle = samples[6_000:18_000] / 32768
    expected = 0.5 * np.sin(2 * np.pi * 440 * np.arange(6_000, 18_000) / 24_000)
    assert np.abs(middle - expected).max() < 0.001


@pytest.mark.usefixtures("bare")
def test_without_the_optional_packages_the_line_says_what_to_install(tmp_path: Path) -> None:
    other = tmp_path / "a.flac"
    other.write_bytes(b"fLaC" + bytes(100))
    with pytest.raises(CommandError, match=r"no plain PCM WAV.*duet-client\[file\]"):
        read_recording(other)
    with pytest.raises(CommandError, match=r"44100 Hz.*duet-client\[file\]"):
        read_recording(write_wav(tmp_path / "b.wav", bytes(100), rate=44_100))


def test_what_cannot_be_played_is_said_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("soundfile")
    pytest.importorskip("sphn")
    noise = tmp_path / "noise.mp3"
    noise.write_bytes(bytes(range(256)) * 4)
    for path, reason in (
        (tmp_path / "nowhere.wav", "No such file"),
        (tmp_path, "Is a directory"),
        (noise, r"^\S*noise\.mp3 is damaged, or no audio in a format that soundfile or sphn can decode$"),
        (write_wav(tmp_path / "empty.wav", b""), "no audio"),
    ):
        with pytest.raises(CommandError, match=reason) as caught:
            read_recording(path)
        assert "\n" not in str(caught.value)


def test_a_header_that_promises_more_than_there_is_does_not_matter(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "cut.wav", struct.pack("<3h", 1, 2, 3))
    data = bytearray(path.read_bytes())
    data[40:44] = struct.pack("<I", 0xFFFFFFF0)
    path.write_bytes(data)
    assert read_recording(path)[0].tolist() == [1, 2, 3]


def test_both_channels_stand_side_by_side_and_the_shorter_one_is_filled(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    both = TwoChannelWav(path)
    both.add_user(struct.pack("<3h", 1, 2, 3))
    both.add_agent(struct.pack("<h", 10) + b"\x14")  # a sample and a half
    both.add_agent(b"\x00")
    both.add_user(struct.pack("<2h", 4, 5))
    assert both.finish() == 3
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getframerate(), file.getnframes()) == (2, 24_000, 5)
        found = np.frombuffer(file.readframes(5), "<i2").reshape(-1, 2)
    assert found.tolist() == [[1, 10], [2, 20], [3, 0], [4, 0], [5, 0]]


def test_a_full_disk_is_told_and_the_file_is_let_go_of(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))  # refused as a full disk refuses
    try:
        wav = TwoChannelWav(tmp_path / "out.wav")
        wav.add_user(bytes(40_000))
        with pytest.raises(OSError, match="File too large"):
            wav.add_agent(bytes(40_000))
        with pytest.raises(OSError, match="File too large"):
            wav.finish()
        del wav
        gc.collect()  # an error in a finaliser fails the test
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
