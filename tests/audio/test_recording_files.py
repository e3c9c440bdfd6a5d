"""Operations on a recording's files that a kill cannot leave half done."""

from __future__ import annotations

from pathlib import Path

import pytest

from audio.recording_files import (
    RecordingError,
    RecordingFiles,
    create,
    lock,
    read_metadata,
    replace_metadata,
    write_at,
)


@pytest.fixture
def files(tmp_path: Path) -> RecordingFiles:
    return RecordingFiles(tmp_path / "sess_1")


def test_metadata_comes_back_and_only_its_owner_may_read_it(files: RecordingFiles) -> None:
    replace_metadata(files, {"word": "schön", "n": 1})
    replace_metadata(files, {"word": "schön", "n": 2})
    assert read_metadata(files) == {"word": "schön", "n": 2}
    assert files.json.stat().st_mode & 0o777 == 0o600
    assert not files.json_part.exists()


def test_no_metadata_is_empty_and_broken_metadata_is_an_error(files: RecordingFiles) -> None:
    assert read_metadata(files) == {}
    files.json.write_text("{")
    with pytest.raises(RecordingError, match="is not JSON"):
        read_metadata(files)
    files.json.write_text("[1]")
    with pytest.raises(RecordingError, match="is not a JSON object"):
        read_metadata(files)


def test_a_file_is_held_by_one_at_a_time(files: RecordingFiles) -> None:
    with create(files.wav) as first, files.wav.open("rb+", buffering=0) as second:
        assert lock(first)
        assert not lock(second)
        first.close()
        assert lock(second)


def test_a_file_that_exists_is_not_created_again(files: RecordingFiles) -> None:
    create(files.wav).close()
    assert files.wav.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        create(files.wav)


def test_bytes_are_written_where_they_belong(files: RecordingFiles) -> None:
    with create(files.wav) as file:
        write_at(file, b"world", 6)
        write_at(file, b"hello ", 0)
    assert files.wav.read_bytes() == b"hello world"


def test_only_the_audio_and_the_metadata_of_a_finished_recording_stay(files: RecordingFiles) -> None:
    for path in (files.wav, files.flac, files.flac_part, files.flags, files.json, files.json_part):
        path.touch()
    files.remove_all_but(files.container("flac"))
    assert {path.name for path in files.base.parent.iterdir()} == {"sess_1.flac", "sess_1.json"}


def test_a_path_that_is_no_unicode_comes_back_as_it_went(files: RecordingFiles) -> None:
    replace_metadata(files, {"model": "/models/\udcff"})
    assert read_metadata(files) == {"model": "/models/\udcff"}
