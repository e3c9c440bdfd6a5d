"""The audio of calls that nobody records but somebody may want to hear again, for as long as that may be.

It lies in a private folder of its own among the temporary files (TMPDIR says where), laid out as a recording,
and goes when its call lets go of it, at the latest with the server. What a killed server left is removed when
the next one starts. Refuses to know calls and who hears them again.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

from audio import wav
from audio.frames import FRAME_SAMPLES, Samples
from audio.recording import Recording
from server.archive import CLOSE_S, WAITING_ENDED, Archive, ArchiveEntry
from server.worker import Worker

PREFIX = "duet-spool-"
LOCK = "lock"

log = logging.getLogger("duet.spool")


class Reel:
    """A call's frames on disk, whole files or growing ones. first: the call's frame that comes first there.

    Calls block on the disk.
    """

    def __init__(self, folder: Path, session_id: str, first: int = 0) -> None:
        self.first = first
        self._base = folder / session_id

    def read(self, first: int, frames: int) -> list[tuple[int, Samples, Samples]]:
        """Up to so many frames from the call's frame `first` on, as far as they are there.

        Each is its index, the user's samples and the agent's, float32 [1920].
        """
        if first < self.first:
            return []
        try:
            samples = self._open(first + frames).read(first - self.first, frames)
        except (OSError, RuntimeError):  # there is none, or it was just made smaller and has another name now
            return []
        count = len(samples) // FRAME_SAMPLES
        parts = samples[: count * FRAME_SAMPLES].reshape(count, FRAME_SAMPLES, 2)
        return [(first + at, part[:, 0], part[:, 1]) for at, part in enumerate(parts)]

    def remove(self) -> None:
        for path in self._base.parent.glob(f"{self._base.name}.*"):
            with suppress(OSError):
                path.unlink()

    def _open(self, end: int) -> Recording:
        path = self._base.with_suffix(".wav")
        with suppress(FileNotFoundError):
            return Recording(path, {}, wav.whole_frames(path.stat().st_size))
        return Recording(self._base.with_suffix(".flac"), {}, end - self.first)


class SpoolEntry:
    """One call's. write, caught_up: as `server.archive.ArchiveEntry` has them; until `finish`."""

    def __init__(self, reel: Reel, entry: ArchiveEntry, remove: Callable[[SpoolEntry], None]) -> None:
        self.reel = reel
        self.write = entry.write
        self.caught_up = entry.caught_up
        self._entry = entry
        self._remove = remove
        self._finished = False

    @property
    def is_whole(self) -> bool:
        """Whether every frame is on disk."""
        finished = self._entry.finished
        return finished.done() and finished.result() is not None

    def finish(self) -> None:
        """No frame follows; those that came stay until `discard`."""
        if not self._finished:
            self._finished = True
            self._entry.finish("spooled", {})

    def discard(self) -> None:
        """Nobody wants it any more."""
        self.finish()
        self._entry.finished.add_done_callback(lambda _: self._remove(self))


class Spool:
    """A frame that could not be written is a gap for whoever wants it again, and counted there."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._archive: Archive | None = None
        self._lock: FileIO | None = None
        self._entries: set[SpoolEntry] = set()
        self._remover = Worker("duet-spool-remover", WAITING_ENDED)

    def open(self, session_id: str, metadata: dict[str, Any], first: int) -> SpoolEntry | None:
        """Begins to keep a call from its frame `first` on; None, and a line in the log, where it cannot."""
        try:
            folder, archive = self._ready()
        except OSError as error:
            log.error("calls cannot be kept for their observers: %s", error)
            return None
        entry = SpoolEntry(Reel(folder, session_id, first), archive.open(session_id, metadata), self._remove)
        self._entries.add(entry)
        return entry

    def close(self) -> None:
        """Blocks for what is still being written, and removes everything."""
        for entry in list(self._entries):
            entry.finish()
        if self._archive is not None and self._folder is not None and self._lock is not None:
            self._archive.close()
            self._remover.close(CLOSE_S)
            shutil.rmtree(self._folder, ignore_errors=True)
            self._lock.close()

    def _remove(self, entry: SpoolEntry) -> None:
        """Not here: to free an hour of audio takes some disks longer than a frame."""
        self._entries.discard(entry)
        self._remover.hand(entry.reel.remove)

    def _ready(self) -> tuple[Path, Archive]:
        if self._folder is None or self._archive is None:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._lock = FileIO(folder / LOCK, "w")
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            self._folder, self._archive = folder, Archive(folder, "wav", lambda _: None)
        return self._folder, self._archive


def remove_abandoned() -> None:
    """Blocks. Folders of servers that live no more; only what is ours can be opened and removed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), FileIO(folder / LOCK, "r+") as lock:
            if folder.stat().st_uid == os.getuid() and not folder.is_symlink():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
