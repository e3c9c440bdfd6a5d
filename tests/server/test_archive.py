"""Recordings that disturb nobody: written aside, on the call's timeline, found again, repaired."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audio.frames import FRAME_SAMPLES, Samples
from audio.recording import FrameFlags, RecordingWriter, open_recording
from server.archive import WAITING_FRAMES, Archive, ArchiveEntry, prepare
from server.logs import SessionLog
from server.settings import ConfigError
from server.tape import REPLACED, Tape
from server.worker import Worker

ID = "sess_" + "0123456789abcdef" * 2
FINE = FrameFlags(0)
WAIT_S = 60
ROOT = Path(__file__).resolve().parents[2]


def level(value: float) -> Samples:
    return np.full(FRAME_SAMPLES, value, np.float32)


def no_loss(frames: int) -> None:
    raise AssertionError(f"{frames} frames were lost")


@contextmanager
def archive(
    folder: Path, on_lost: Callable[[int], None] = no_loss, container: Any = "wav"
) -> Iterator[Archive]:
    made = Archive(folder, container, on_lost)
    try:
        yield made
    finally:
        made.close()


def record(made: Archive, frames: int, session_id: str = ID) -> Path | None:
    entry = made.open(session_id, {"model": "small"})
    for n in range(frames):
        entry.write(level(n / 64), level(-n / 64), FINE)
    return entry.finish("close_requested", {"answered": frames}).result(WAIT_S)


@contextmanager
def disk_takes(file_bytes: int) -> Iterator[None]:
    """No file of this process may grow beyond; the kernel refuses the write as it would on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("container", ["wav", "flac"])
def test_a_finished_recording_holds_every_frame_in_its_place(tmp_path: Path, container: str) -> None:
    with archive(tmp_path, container=container) as made:
        path = record(made, 8)
        assert path == tmp_path / f"{ID}.{container}"
        assert made.find(ID) == path
    recording = open_recording(path)
    assert [float(x) for x in recording.samples[::FRAME_SAMPLES, 0]] == [n / 64 for n in range(8)]
    assert [float(x) for x in recording.samples[::FRAME_SAMPLES, 1]] == [-n / 64 for n in range(8)]
    told = {key: recording.metadata[key] for key in ("status", "reason", "model", "answered")}
    assert told == {"status": "finished", "reason": "close_requested", "model": "small", "answered": 8}


def test_calls_that_are_recorded_at_the_same_time_do_not_mix(tmp_path: Path) -> None:
    ids = [f"sess_{n:032x}" for n in range(3)]
    with archive(tmp_path) as made:
        entries = [made.open(session_id, {}) for session_id in ids]
        for _ in range(5):
            for n, entry in enumerate(entries):
                entry.write(level(n / 8), level(0), FINE)
        paths = [entry.finish("close_requested", {}).result(WAIT_S) for entry in entries]
    assert [float(open_recording(path).samples[:, 0].max()) for path in paths if path] == [0, 1 / 8, 2 / 8]


def test_recordings_are_for_their_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "calls"
    prepare(folder)
    with archive(folder) as made:
        path = record(made, 1)
    assert path is not None
    assert [stat.S_IMODE(each.stat().st_mode) for each in (folder, path)] == [0o700, 0o600]


class StuckDisk:
    """A writer that takes its first frame only when told to, and remembers what it got."""

    def __init__(self) -> None:
        self.reached, self.go = threading.Event(), threading.Event()
        self.error: str | None = None
        self.frames: list[tuple[float, FrameFlags]] = []
        self.extra: dict[str, Any] = {}

    def write(self, user: Samples, agent: Samples, flags: FrameFlags) -> None:
        self.reached.set()
        self.go.wait(WAIT_S)
        self.frames.append((float(user[0] + agent[0]), flags))

    def finish(self, reason: str, extra: dict[str, Any]) -> Path:
        self.extra = extra
        return Path(reason)


class StuckCall:
    """A call that is recorded on a stuck disk."""

    def __init__(self) -> None:
        self.disk = StuckDisk()
        self.lost: list[int] = []
        self._writer, self._closer = Worker("test-writer", 1_000), Worker("test-closer", 10)
        tape = Tape(lambda: self.disk, self.lost.append, SessionLog(logging.getLogger("duet.test"), ID))
        self.entry = ArchiveEntry(tape, self._writer, self._closer)

    def fill(self) -> None:
        """One frame is being written, and as many as may wait do."""
        for _ in range(WAITING_FRAMES):
            self.entry.write(level(0.5), level(0), FINE)
        assert self.disk.reached.wait(WAIT_S)

    def let_go(self) -> None:
        """Returns when everything that waited is written."""
        written = threading.Event()
        self.disk.go.set()
        self._writer.hand(written.set)
        assert written.wait(WAIT_S)

    def close(self) -> None:
        assert self.entry.finish("close_requested", {}).result(WAIT_S) == Path("close_requested")
        assert self._writer.close(WAIT_S)
        assert self._closer.close(WAIT_S)


def test_a_disk_that_stands_still_holds_nobody_up_and_silence_keeps_the_place_of_what_it_missed() -> None:
    call = StuckCall()
    call.fill()
    for _ in range(7):
        call.entry.write(level(0.25), level(0), FINE)
    call.let_go()
    call.entry.write(level(0.75), level(0), FINE)
    call.close()
    assert call.disk.frames == [(0.5, FINE)] * 125 + [(0.0, REPLACED)] * 7 + [(0.75, FINE)]
    assert call.disk.extra == {"frames_replaced": 7, "replaced": [[125, 7]]}
    assert sum(call.lost) == 7


def test_frames_missed_at_the_very_end_are_told_too() -> None:
    call = StuckCall()
    call.fill()
    for _ in range(3):
        call.entry.write(level(0.25), level(0), FINE)
    call.let_go()
    call.close()
    assert len(call.disk.frames) == 128
    assert call.disk.extra == {"frames_replaced": 3, "replaced": [[125, 3]]}


def test_a_call_that_gives_up_waiting_for_the_disk_breaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        waiting = asyncio.create_task(call.entry.caught_up())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        call.let_go()

    call = StuckCall()
    call.fill()
    asyncio.run(scene())
    call.close()
    assert caplog.text == ""


def test_a_disk_that_takes_nothing_is_not_waited_for_until_it_takes_a_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene() -> None:
        for _ in range(2):
            await call.entry.caught_up()
        assert waits == [0.0]
        call.let_go()
        call.disk.reached.clear()
        call.disk.go.clear()
        call.fill()
        await call.entry.caught_up()
        assert waits == [0.0, 0.0]

    async def wait(done: Any, **limit: Any) -> Any:
        waits.append(limit["timeout"])
        return await asyncio_wait(done, **limit)

    call, asyncio_wait = StuckCall(), asyncio.wait
    waits: list[float] = []
    monkeypatch.setattr("server.archive.STUCK_S", 0.0)
    monkeypatch.setattr("server.archive.asyncio.wait", wait)
    call.fill()
    asyncio.run(scene())
    call.let_go()
    call.close()


def test_a_slow_disk_is_logged_once_a_call(caplog: pytest.LogCaptureFixture) -> None:
    call = StuckCall()
    for _ in range(2):
        call.fill()
        call.entry.write(level(0.25), level(0), FINE)
        call.let_go()
    call.close()
    assert [record.session for record in caplog.records] == [ID]  # type: ignore[attr-defined]
    assert "from 125 on" in caplog.text


def test_a_full_disk_ends_the_recording_and_not_the_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lost: list[int] = []
    ten_frames = 80 + 10 * FRAME_SAMPLES * 4
    with archive(tmp_path, lost.append) as made, disk_takes(ten_frames + 100):
        path = record(made, 16)
    assert path is not None
    recording = open_recording(path)
    assert recording.frames == 10
    assert float(recording.samples[-1, 0]) == 9 / 64
    assert sum(lost) == recording.metadata["frames_lost"] == 6
    assert "File too large" in recording.metadata["error"]
    assert len(caplog.records) == 1


def test_a_recording_that_cannot_even_begin_ends_as_none(tmp_path: Path) -> None:
    lost: list[int] = []
    (tmp_path / "file").write_text("no folder")
    with archive(tmp_path / "file", lost.append) as made:
        assert record(made, 5) is None
        assert made.find(ID) is None
    assert sum(lost) == 5


def test_after_its_close_an_archive_records_nothing_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with archive(tmp_path) as made:
        pass
    assert record(made, 3) is None
    assert list(tmp_path.iterdir()) == []
    assert "could not be closed" in caplog.text


def test_a_recording_whose_start_could_not_wait_begins_with_its_first_frame() -> None:
    disk = StuckDisk()
    disk.go.set()
    tape = Tape(lambda: disk, no_loss, SessionLog(logging.getLogger("duet.test"), ID))
    tape.write(level(0.5), level(0), FINE)
    assert disk.frames == [(0.5, FINE)]


def test_closing_waits_for_the_recordings_that_are_being_finished(tmp_path: Path) -> None:
    with archive(tmp_path, container="flac") as made:
        entry = made.open(ID, {})
        for _ in range(100):
            entry.write(level(0.1), level(0.2), FINE)
        finished: Future[Path | None] = entry.finish("drained", {})
    assert finished.done()
    assert open_recording(tmp_path / f"{ID}.flac").frames == 100


@pytest.mark.parametrize(
    "session_id", ["", "sess_", ID.upper(), ID + "0", f"../{ID}", f"{ID}/", f"{ID}\n", "*"]
)
def test_what_is_no_session_id_never_becomes_a_path(tmp_path: Path, session_id: str) -> None:
    with archive(tmp_path) as made:
        record(made, 1)
        assert made.find(session_id) is None
        with pytest.raises(ValueError, match="session_id must be"):
            made.open(session_id, {})


def test_a_running_recording_is_not_found_before_it_is_finished(tmp_path: Path) -> None:
    with archive(tmp_path) as made:
        entry = made.open(ID, {})
        entry.write(level(0), level(0), FINE)
        other = "sess_" + "f" * 32
        record(made, 1, other)  # the same thread has written both by then
        assert made.find(ID) is None
        assert made.find(other) is not None
        entry.finish("close_requested", {}).result(WAIT_S)
        assert made.find(ID) is not None


def test_a_recording_is_being_written_until_its_file_is_there(tmp_path: Path) -> None:
    go = threading.Event()
    with archive(tmp_path) as made:
        entry = made.open(ID, {})
        assert made.is_writing(ID)
        made._closer.hand(lambda: go.wait(WAIT_S))  # as a long call's FLAC keeps it busy
        finished = entry.finish("close_requested", {})
        assert made.is_writing(ID)
        go.set()
        assert finished.result(WAIT_S) == made.find(ID) == tmp_path / f"{ID}.wav"
        assert not made.is_writing(ID)


def test_a_recording_that_came_to_nothing_is_not_being_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with archive(tmp_path / "file", lambda _: None) as made:
        record(made, 1)
        assert not made.is_writing(ID)


@pytest.mark.parametrize("suffix", [".wav", ".json"])
def test_a_link_that_leads_out_of_the_folder_is_not_followed(tmp_path: Path, suffix: str) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside):
        with archive(folder) as made:
            record(made, 1)
    link = inside / f"{ID}{suffix}"
    link.unlink()
    link.symlink_to(outside / f"{ID}{suffix}")
    with archive(inside) as made:
        assert made.find(ID) is None


KILLED_WRITER = f"""
import os, pathlib, signal, sys
from audio.frames import silence
from audio.recording import FrameFlags, RecordingWriter
writer = RecordingWriter(pathlib.Path(sys.argv[1]), {ID!r}, {{}}, "flac")
for _ in range(5):
    writer.write(silence(), silence(), FrameFlags(0))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_whole_again_after_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    subprocess.run([sys.executable, "-c", KILLED_WRITER, tmp_path], cwd=ROOT, check=False)
    os.truncate(tmp_path / f"{ID}.wav", (tmp_path / f"{ID}.wav").stat().st_size - 1_000)
    prepare(tmp_path)
    metadata = json.loads((tmp_path / f"{ID}.json").read_text())
    assert (metadata["status"], metadata["frames"]) == ("recovered", 4)
    assert "recovered 4 frames" in caplog.text
    with archive(tmp_path) as made:
        assert made.find(ID) == tmp_path / f"{ID}.wav"


def test_a_recording_that_another_server_still_writes_is_left_alone(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path, ID, {}, "wav")
    writer.write(level(0), level(0), FINE)
    prepare(tmp_path)
    writer.write(level(0), level(0), FINE)
    assert open_recording(writer.finish("close_requested", {})).frames == 2


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ConfigError, match=r"recordings cannot be written: .*calls: Not a directory"):
        prepare(tmp_path / "file" / "calls")


def test_the_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    prepare(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
