"""Calls that are kept for their observers and for nobody else."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import numpy as np
import pytest

from audio.frame_flags import FrameFlags
from audio.frames import FRAME_SAMPLES, Samples
from audio.recording import RecordingWriter
from server.config import ServerConfig
from server.main import run
from server.settings import ConfigError
from server.spool import LOCK, PREFIX, Reel, Spool, SpoolEntry

ID = "sess_" + "a" * 32
NONE = FrameFlags(0)


def level(number: float) -> Samples:
    return np.full(FRAME_SAMPLES, number / 32_768, np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def opened(spool: Spool, first: int = 0, frames: int = 0) -> SpoolEntry:
    entry = spool.open(ID, {}, first)
    assert entry is not None
    for number in range(first, first + frames):
        entry.write(level(number), level(-number), NONE)
    return entry


def levels(reel: Reel, first: int, frames: int) -> list[tuple[int, float, float]]:
    return [
        (index, float(user[0] * 32_768), float(agent[-1] * 32_768))
        for index, user, agent in reel.read(first, frames)
    ]


@pytest.mark.usefixtures("folder")
def test_frames_come_back_by_the_call_s_own_numbers() -> None:
    spool = Spool()
    entry = opened(spool, first=10, frames=5)
    entry.finish()
    entry._entry.finished.result(10)
    assert levels(entry.reel, 10, 2) == [(10, 10, -10), (11, 11, -11)]
    assert levels(entry.reel, 13, 9) == [(13, 13, -13), (14, 14, -14)]
    assert levels(entry.reel, 9, 2) == []
    assert levels(entry.reel, 15, 1) == []
    spool.close()


def test_a_call_that_nobody_wants_any_more_leaves_nothing(folder: Path) -> None:
    spool = Spool()
    entry = opened(spool, frames=3)
    entry.discard()
    entry._entry.finished.result(10)
    (own,) = folder.glob(f"{PREFIX}*")
    spool._archive.close()  # type: ignore[union-attr]  # its threads have done what they were handed
    spool._remover.close(10)
    assert [path.name for path in own.iterdir()] == [LOCK]
    spool.close()
    assert list(folder.iterdir()) == []


def test_its_folder_is_for_its_owner_only(folder: Path) -> None:
    spool = Spool()
    opened(spool)
    (own,) = folder.glob(f"{PREFIX}*")
    assert own.stat().st_mode & 0o777 == 0o700
    spool.close()


def test_what_a_killed_server_left_goes_at_a_start_and_what_a_living_one_has_stays(
    folder: Path,
) -> None:
    dead = folder / f"{PREFIX}dead"
    dead.mkdir()
    (dead / LOCK).touch()
    (dead / "speech.wav").touch()
    living = Spool()
    opened(living)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigError, match="port"):
        run(ServerConfig(host="127.0.0.1", port=taken.getsockname()[1], keep="off"), {})
    assert not dead.exists()
    assert len(list(folder.glob(f"{PREFIX}*"))) == 1
    living.close()


def test_without_a_place_for_it_a_call_is_not_kept_and_that_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "missing"))
    assert Spool().open(ID, {}, 0) is None
    assert "cannot be kept" in caplog.text


def test_a_recording_that_was_made_smaller_is_read_as_before(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path, ID, {}, "flac")
    for number in range(4):
        writer.write(level(number), level(-number), NONE)
    before = levels(Reel(tmp_path, ID), 1, 2)
    writer.finish("over", {})
    assert levels(Reel(tmp_path, ID), 1, 2) == before == [(1, 1, -1), (2, 2, -2)]
    assert levels(Reel(tmp_path, ID), 3, 9) == [(3, 3, -3)]
