"""A recording from its first frame to its end, and a disk that fills up on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
import soundfile

from audio.frames import Samples, silence
from audio.recording import Container, FrameFlags, RecordingError, RecordingWriter, open_recording

DiskOf = Callable[[int], AbstractContextManager[None]]

NONE = FrameFlags(0)


def frame(level: float) -> Samples:
    return np.full(1_920, level, np.float32)


@pytest.mark.parametrize("container", ["wav", "flac"])
def test_a_call_is_recorded_with_both_channels_in_step(tmp_path: Path, container: Container) -> None:
    writer = RecordingWriter(
        tmp_path, "sess_1", {"session_id": "sess_1", "model": "moshi", "seed": 7}, container
    )
    writer.write(frame(0.5), silence(), FrameFlags.AGENT_SILENT)
    writer.write(frame(0.25), frame(-0.5), NONE)
    writer.write(frame(0.125), frame(-0.25), NONE)
    path = writer.finish("close_requested", {"transcript": "hm"})

    assert path == tmp_path / f"sess_1.{container}"
    samples, rate = soundfile.read(path)
    assert rate == 24_000
    assert samples[::1_920].tolist() == [[0.5, 0], [0.25, -0.5], [0.125, -0.25]]
    assert len(samples) == 3 * 1_920
    assert json.loads((tmp_path / "sess_1.json").read_text()) == {
        "session_id": "sess_1",
        "model": "moshi",
        "seed": 7,
        "transcript": "hm",
        "status": "finished",
        "reason": "close_requested",
        "container": container,
        "channels": ["user", "agent"],
        "sample_rate": 24_000,
        "frames": 3,
        "duration_s": 0.24,
        "flags": [[16, 1], [0, 2]],
        "flag_bits": {
            "PADDED_INPUT": 1,
            "DROPPED_INPUT": 2,
            "MUTED": 4,
            "SILENCE_FED": 8,
            "AGENT_SILENT": 16,
            "GUARDED": 32,
        },
    }
    assert {one.name for one in tmp_path.iterdir()} == {path.name, "sess_1.json"}


def test_a_finished_recording_opens_by_any_of_its_names(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path, "sess_1", {}, "flac")
    for n in range(4):
        writer.write(frame(n / 8), frame(-n / 8), FrameFlags(n))
    path = writer.finish("close_requested", {})
    for name in (path, tmp_path / "sess_1.json", tmp_path / "sess_1.wav", tmp_path / "sess_1"):
        recording = open_recording(name)
        assert (recording.path, recording.frames) == (path, 4)
        assert recording.samples[::1_920, 0].tolist() == [0, 0.125, 0.25, 0.375]
        assert recording.read(2, 1)[0].tolist() == [0.25, -0.25]
        assert recording.read(3, 99).shape == (1_920, 2)
        assert recording.read(4, 1).shape == (0, 2)
        assert recording.flags == [FrameFlags(n) for n in range(4)]


def test_while_the_call_goes_any_program_can_read_what_there_is(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path, "sess_1", {"seed": 7}, "flac")
    writer.write(frame(0.5), frame(-0.5), FrameFlags.MUTED)
    assert soundfile.read(tmp_path / "sess_1.wav")[0].shape == (1_920, 2)
    recording = open_recording(tmp_path / "sess_1.json")
    assert recording.metadata["status"] == "open"
    assert recording.metadata["seed"] == 7
    assert recording.samples[0].tolist() == [0.5, -0.5]
    assert recording.flags == [FrameFlags.MUTED]

    writer.write(frame(0.25), frame(-0.25), NONE)  # looking did not disturb it
    assert open_recording(writer.finish("expired", {})).samples[1_920].tolist() == [0.25, -0.25]


def test_a_call_without_a_frame_is_an_empty_recording(tmp_path: Path) -> None:
    path = RecordingWriter(tmp_path, "sess_1", {}, "flac").finish("connection_lost", {})
    recording = open_recording(path)
    assert path.suffix == ".wav"  # an empty FLAC is no valid file
    assert (recording.frames, recording.samples.shape) == (0, (0, 2))
    assert recording.metadata["reason"] == "connection_lost"


def test_recordings_are_for_their_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "recordings"
    writer = RecordingWriter(folder, "sess_1", {}, "flac")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {one.stat().st_mode & 0o777 for one in folder.iterdir()} == {0o600}
    writer.write(silence(), silence(), NONE)
    writer.finish("close_requested", {})
    assert {one.stat().st_mode & 0o777 for one in folder.iterdir()} == {0o600}


def test_loud_and_broken_samples_are_clipped_and_silenced(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path, "sess_1", {}, "wav")
    writer.write(frame(7), frame(float("nan")), NONE)
    recording = open_recording(writer.finish("close_requested", {}))
    assert recording.samples[0].tolist() == [32_767 / 32_768, 0]


def test_a_frame_of_another_length_is_refused_and_the_recording_goes_on(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path, "sess_1", {}, "wav")
    with pytest.raises(ValueError, match="agent must be one frame"):
        writer.write(silence(), silence()[1:], NONE)
    writer.write(frame(0.5), silence(), NONE)
    assert open_recording(writer.finish("close_requested", {})).samples.shape == (1_920, 2)


@pytest.mark.parametrize("session_id", ["", "../etc", "a/b", "a.b", "x" * 129, "a\n"])
def test_a_session_id_that_is_no_plain_name_makes_no_file(tmp_path: Path, session_id: str) -> None:
    with pytest.raises(ValueError, match="session_id must be letters, digits"):
        RecordingWriter(tmp_path, session_id, {}, "wav")
    assert not list(tmp_path.iterdir())


def test_a_field_the_recording_sets_itself_cannot_be_given(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="metadata may not set frames, status: the recording does"):
        RecordingWriter(tmp_path, "sess_1", {"status": "x", "frames": 1}, "wav")
    with pytest.raises(ValueError, match="metadata may not set session_id"):
        RecordingWriter(tmp_path, "sess_1", {"session_id": "sess_2"}, "wav")
    writer = RecordingWriter(tmp_path, "sess_1", {}, "wav")
    with pytest.raises(ValueError, match="metadata may not set reason"):
        writer.finish("close_requested", {"reason": "x"})
    writer.finish("close_requested", {})


@pytest.mark.parametrize("container", ["wav", "flac"])
def test_a_recording_is_never_written_over(tmp_path: Path, container: Container) -> None:
    first = RecordingWriter(tmp_path, "sess_1", {}, container)
    with pytest.raises(RecordingError, match="cannot start recording sess_1"):
        RecordingWriter(tmp_path, "sess_1", {}, container)
    first.write(frame(0.5), silence(), NONE)
    path = first.finish("close_requested", {})
    with pytest.raises(RecordingError, match="cannot start recording sess_1"):
        RecordingWriter(tmp_path, "sess_1", {}, container)
    assert open_recording(path).samples[0, 0] == 0.5


def test_a_folder_that_cannot_be_made_is_a_recording_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecordingError, match="cannot start recording sess_1: .*file"):
        RecordingWriter(tmp_path / "file", "sess_1", {}, "wav")


def test_a_full_disk_is_told_once_and_what_was_recorded_stays(tmp_path: Path, disk_of: DiskOf) -> None:
    writer = RecordingWriter(tmp_path, "sess_1", {}, "flac")
    with disk_of(80 + 2 * 7_680 + 5_000):
        writer.write(frame(0.5), frame(-0.5), NONE)
        writer.write(frame(0.25), frame(-0.25), FrameFlags.MUTED)
        with pytest.raises(RecordingError, match="recording sess_1 stopped: .*File too large"):
            writer.write(frame(0.125), frame(-0.125), NONE)
        writer.write(frame(0.125), frame(-0.125), NONE)
    assert (tmp_path / "sess_1.wav").stat().st_size == 80 + 2 * 7_680  # no part of a frame
    assert soundfile.read(tmp_path / "sess_1.wav")[0].shape == (3_840, 2)

    recording = open_recording(writer.finish("close_requested", {}))
    assert recording.samples[::1_920].tolist() == [[0.5, -0.5], [0.25, -0.25]]
    assert recording.flags == [NONE, FrameFlags.MUTED]
    assert recording.metadata["frames_lost"] == 2
    assert "File too large" in recording.metadata["error"]


def test_without_room_for_the_flac_the_wav_stays_and_the_metadata_says_why(
    tmp_path: Path, disk_of: DiskOf
) -> None:
    random = np.random.default_rng(4)
    writer = RecordingWriter(tmp_path, "sess_1", {}, "flac")
    noise = random.uniform(-1, 1, (30, 2, 1_920)).astype(np.float32)
    for user, agent in noise:
        writer.write(user, agent, NONE)
    with disk_of(100_000):
        path = writer.finish("close_requested", {})
    recording = open_recording(path)
    assert path.name == "sess_1.wav"
    assert recording.metadata["container"] == "wav"
    assert "cannot write sess_1.flac.part" in recording.metadata["error"]
    assert np.abs(recording.samples[:, 0] - noise[:, 0].ravel()).max() <= 1 / 32_768
    assert {one.name for one in tmp_path.iterdir()} == {"sess_1.wav", "sess_1.json"}


def test_without_room_for_metadata_finish_fails_and_opening_repairs(tmp_path: Path, disk_of: DiskOf) -> None:
    writer = RecordingWriter(tmp_path, "sess_1", {"model": "moshi"}, "wav")
    writer.write(frame(0.5), frame(-0.5), FrameFlags.MUTED)
    with disk_of(100), pytest.raises(RecordingError, match="cannot finish recording sess_1"):
        writer.finish("close_requested", {})
    recording = open_recording(tmp_path / "sess_1.wav")
    assert recording.metadata["status"] == "recovered"
    assert recording.metadata["model"] == "moshi"
    assert recording.flags == [FrameFlags.MUTED]
    assert recording.samples[0].tolist() == [0.5, -0.5]


def test_a_recording_that_cannot_start_or_finish_for_want_of_room_takes_none(
    tmp_path: Path, disk_of: DiskOf
) -> None:
    with disk_of(40), pytest.raises(RecordingError, match="cannot start recording sess_1"):
        RecordingWriter(tmp_path, "sess_1", {}, "flac")
    assert not list(tmp_path.iterdir())

    writer = RecordingWriter(tmp_path, "sess_1", {}, "flac")
    writer.write(frame(0.5), frame(-0.5), NONE)
    with disk_of(100), pytest.raises(RecordingError, match="cannot finish recording sess_1"):
        writer.finish("close_requested", {})
    assert {one.name for one in tmp_path.iterdir()} == {"sess_1.wav", "sess_1.flags", "sess_1.json"}
