"""Opening what a killed writer, a copy or another program left."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from audio import wav
from audio.frames import Samples
from audio.recording_files import RecordingError, RecordingFiles, create, lock
from audio.recording_reader import open_recording


def frame(level: float) -> Samples:
    return np.full(1_920, level, np.float32)


@pytest.fixture
def left(tmp_path: Path) -> RecordingFiles:
    """What a writer killed in its fourth frame leaves: three frames and a part, five flags."""
    files = RecordingFiles(tmp_path / "sess_1")
    audio = b"".join(wav.pack(frame(n / 8), frame(-n / 8)) for n in range(4))
    files.wav.write_bytes(wav.header(3) + audio[:-1_000])
    files.flags.write_bytes(bytes([0, 4, 4, 1, 1]))
    files.json.write_text(json.dumps({"session_id": "sess_1", "seed": 7, "status": "open"}))
    return files


def test_a_part_of_a_frame_is_cut_and_the_rest_is_finished(left: RecordingFiles) -> None:
    left.flac_part.write_bytes(b"fLaC")
    recording = open_recording(left.json)
    assert recording.frames == 3
    assert recording.samples[::1_920].tolist() == [[0, 0], [0.125, -0.125], [0.25, -0.25]]
    assert left.wav.stat().st_size == 80 + 3 * 7_680
    assert soundfile.info(left.wav).frames == 3 * 1_920
    assert json.loads(left.json.read_text()) == recording.metadata
    told = {"status": "recovered", "reason": "interrupted", "seed": 7, "container": "wav"}
    assert told.items() <= recording.metadata.items()
    assert recording.metadata["flags"] == [[0, 1], [4, 2]]
    assert {one.name for one in left.base.parent.iterdir()} == {"sess_1.wav", "sess_1.json"}


def test_a_header_behind_its_audio_is_put_right(left: RecordingFiles) -> None:
    with left.wav.open("rb+") as file:
        file.write(wav.header(1))
    assert open_recording(left.wav).frames == 3
    assert left.wav.read_bytes()[:80] == wav.header(3)


def test_a_repair_may_itself_be_repeated(left: RecordingFiles) -> None:
    first = open_recording(left.wav)
    second = open_recording(left.wav)
    assert second.metadata == first.metadata
    assert np.array_equal(second.samples, first.samples)


def test_lost_flags_count_as_none(left: RecordingFiles) -> None:
    left.flags.unlink()
    assert open_recording(left.wav).metadata["flags"] == [[0, 3]]


def test_audio_without_metadata_is_still_a_recording(left: RecordingFiles) -> None:
    left.json.unlink()
    recording = open_recording(left.wav)
    assert recording.frames == 3
    assert recording.metadata["session_id"] == "sess_1"
    assert recording.metadata["channels"] == ["user", "agent"]


@pytest.mark.parametrize("length", [0, 5, 79])
def test_a_writer_killed_before_its_first_frame_leaves_an_empty_recording(
    left: RecordingFiles, length: int
) -> None:
    left.wav.write_bytes(wav.header(0)[:length])
    left.json.unlink()
    assert open_recording(left.wav).frames == 0
    assert soundfile.info(left.wav).frames == 0


def test_a_recording_that_someone_writes_is_shown_and_not_touched(left: RecordingFiles) -> None:
    before = left.wav.read_bytes()
    with left.wav.open("rb+", buffering=0) as writer:
        assert lock(writer)
        recording = open_recording(left.wav)
        assert (recording.frames, recording.metadata["status"]) == (3, "open")
    assert left.wav.read_bytes() == before
    assert left.flags.exists()


def test_what_a_finish_that_was_killed_did_not_remove_goes(left: RecordingFiles) -> None:
    told = json.loads(left.json.read_text()) | {"status": "finished", "container": "flac", "frames": 3}
    soundfile.write(left.flac, np.zeros((3 * 1_920, 2)), 24_000, subtype="PCM_16")
    left.json.write_text(json.dumps(told))
    recording = open_recording(left.wav)
    assert (recording.path, recording.frames) == (left.flac, 3)
    assert {one.name for one in left.base.parent.iterdir()} == {"sess_1.flac", "sess_1.json"}


def test_another_program_s_wav_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "holiday.wav"
    soundfile.write(path, np.zeros((5_000, 2)), 24_000)
    before = path.read_bytes()
    with pytest.raises(RecordingError, match="is not a recording of ours"):
        open_recording(path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["holiday.wav"]


def test_nothing_there_is_a_recording_error(tmp_path: Path, left: RecordingFiles) -> None:
    with pytest.raises(RecordingError, match="there is no recording .*sess_2"):
        open_recording(tmp_path / "sess_2.json")
    left.wav.unlink()
    with pytest.raises(RecordingError, match="there is no recording .*sess_1"):
        open_recording(left.json)


def test_a_call_of_more_than_four_gib_opens_and_reads_at_its_end(tmp_path: Path) -> None:
    files = RecordingFiles(tmp_path / "sess_1")
    last = 559_300
    with create(files.wav) as file:
        file.write(wav.header(0))
        file.seek(wav.offset(last))  # a hole: the disk holds only what is written
        file.write(wav.pack(frame(0.5), frame(-0.5)) + b"part")
    recording = open_recording(files.wav)
    assert recording.frames == last + 1
    assert recording.metadata["duration_s"] == 559_301 * 0.08
    assert recording.read(last, 1)[0].tolist() == [0.5, -0.5]
    assert soundfile.info(files.wav).frames == 559_301 * 1_920
    files.wav.unlink()
