"""Where recordings are kept, written on threads of their own so that a slow or full disk delays nobody.

A call hands in its frames and goes on. One thread writes every call's frames in order; another closes
what has ended, since making an hour smaller takes a while. A call may have WAITING_FRAMES waiting; what
comes beyond is counted, and silence stands in its place (`server.tape`).

Refuses to know wires, sessions and what a recording looks like inside (`audio.recording`).
"""

from __future__ import annotations

import asyncio
import logging
import re
import tempfile
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, Literal

from audio.frames import Samples
from audio.recording import FrameFlags, Recording, RecordingError, RecordingWriter, open_recording
from server.logs import SessionLog
from server.settings import ConfigError
from server.tape import Tape
from server.worker import Worker

WAITING_FRAMES = 125
"""10 s of one call, 1.9 MB of samples."""
WAITING_JOBS = 8_192
"""All calls together, 126 MB at most."""
WAITING_ENDED = 1_024
"""Calls that ended and wait to be closed; one beyond them is left as it is, for a repair."""
STUCK_S = 10.0
"""A disk that took nothing for so long is not waited for any more, until it takes something."""
CLOSE_S = 20.0
"""Longest wait for each thread at the end. What is not closed by then is left for a repair."""

SESSION_ID = re.compile(r"sess_[0-9a-f]{32}")
_SUFFIXES = (".json", ".flags", ".wav", ".flac")

Finished = Future[Path | None]

log = logging.getLogger("duet.archive")


class ArchiveEntry:
    """One call's recording, as the call sees it: nothing here waits. One thread may call.

    finished: gets the file's path when it is whole, or None where it did not become so.
    """

    def __init__(self, tape: Tape, writer: Worker, closer: Worker) -> None:
        self._tape = tape
        self._writer = writer
        self._closer = closer
        self._handed = self._written = 0
        self._skipped = 0
        self._stuck_at = -1
        self.finished: Finished = Future()
        self.finished.set_running_or_notify_cancel()  # whoever stops waiting does not stop the work
        writer.hand(tape.start)  # where that cannot wait either, the first frame does it

    def write(self, user: Samples, agent: Samples, flags: FrameFlags) -> None:
        """The next frame of both channels, float32 [1920] each."""
        room = self._waiting < WAITING_FRAMES
        if room and self._writer.hand(partial(self._write, self._skipped, user, agent, flags)):
            self._handed += 1
            self._skipped = 0
        else:
            self._skipped += 1

    @property
    def _waiting(self) -> int:
        return self._handed - self._written

    async def caught_up(self) -> None:
        """Returns at once as long as there is much room, else when what was handed in is written, or
        the disk is stuck.

        For a call that can wait; one at the pace of speech loses its frames instead.
        """
        if self._waiting < WAITING_FRAMES // 2 or self._writer.done == self._stuck_at:
            return
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # as above
        if self._writer.hand(partial(done.set_result, None)):
            await self._patiently(asyncio.wrap_future(done))

    async def _patiently(self, done: asyncio.Future[None]) -> None:
        """Waits for it as long as frames are written, whosever they are."""
        try:
            while not done.done():
                before = self._writer.done
                await asyncio.wait([done], timeout=STUCK_S)
                if self._writer.done == before and not done.done():
                    self._stuck_at = before
                    return
        finally:
            done.cancel()

    def finish(self, reason: str, extra: dict[str, Any]) -> Finished:
        """Ends the recording, once; no write follows. Returns `finished`."""
        if not self._writer.hand(partial(self._end, self._skipped, reason, extra)):
            self._leave()
        return self.finished

    def _write(self, skipped: int, user: Samples, agent: Samples, flags: FrameFlags) -> None:
        self._tape.skip(skipped)
        self._tape.write(user, agent, flags)
        self._written += 1

    def _end(self, skipped: int, reason: str, extra: dict[str, Any]) -> None:
        self._tape.skip(skipped)
        if not self._closer.hand(lambda: self.finished.set_result(self._tape.finish(reason, extra))):
            self._leave()

    def _leave(self) -> None:
        self._tape.leave()
        self.finished.set_result(None)


class Archive:
    """The recordings in one folder. on_lost is told of every frame that a recording lacks."""

    def __init__(
        self, folder: Path, container: Literal["wav", "flac"], on_lost: Callable[[int], None]
    ) -> None:
        self._folder = folder
        self._container = container
        self._on_lost = on_lost
        self._writer = Worker("duet-archive-writer", WAITING_JOBS)
        self._closer = Worker("duet-archive-closer", WAITING_ENDED)
        self._unfinished: set[str] = set()

    def open(self, session_id: str, metadata: dict[str, Any]) -> ArchiveEntry:
        """Starts a recording. Raises ValueError for what is no session id."""
        if not SESSION_ID.fullmatch(session_id):
            raise ValueError(f"session_id must be sess_ and 32 hex digits, not {session_id!r}")
        make = partial(RecordingWriter, self._folder, session_id, metadata, self._container)
        tape = Tape(make, self._on_lost, SessionLog(log, session_id))
        entry = ArchiveEntry(tape, self._writer, self._closer)
        self._unfinished.add(session_id)
        entry.finished.add_done_callback(lambda _: self._unfinished.discard(session_id))
        return entry

    def is_writing(self, session_id: str) -> bool:
        """Whether its recording is under way: the call goes on, or the file is still being made."""
        return session_id in self._unfinished

    def find(self, session_id: str) -> Path | None:
        """The audio file of a finished recording; None where there is none, or none yet."""
        recording = _open(self._folder, session_id)
        return recording.path if recording and recording.metadata["status"] != "open" else None

    def close(self) -> None:
        """Takes nothing more and finishes what it can. Blocks for 2 CLOSE_S at most."""
        for worker in (self._writer, self._closer):
            if not worker.close(CLOSE_S):
                log.error("recordings could not all be closed; the next start repairs them")


def prepare(folder: Path) -> None:
    """Makes the folder where it is missing, for its owner only, and repairs what a killed process left.

    Raises:
        ConfigError: recordings cannot be written there.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        unfinished = sorted(path.stem for path in folder.glob("sess_*.flags"))
    except OSError as error:
        raise ConfigError("recordings", f"cannot be written: {folder}: {error.strerror}") from error
    for session_id in unfinished:
        recording = _open(folder, session_id)
        if recording and recording.metadata["status"] == "recovered":
            SessionLog(log, session_id).warning(
                "recovered %d frames of an interrupted call", recording.frames
            )


def _open(folder: Path, session_id: str) -> Recording | None:
    """A recording by its id; opening repairs one whose writer was killed. Nothing outside the folder is
    touched: the id is checked before it becomes a path, and links are not followed."""
    if not SESSION_ID.fullmatch(session_id):
        return None
    files = [folder / f"{session_id}{suffix}" for suffix in _SUFFIXES]
    if any(path.is_symlink() for path in files) or not any(path.exists() for path in files):
        return None
    try:
        return open_recording(files[0])
    except RecordingError as error:
        SessionLog(log, session_id).error("%s", error)
        return None
