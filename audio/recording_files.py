"""The files of one recording, and the operations on them that a kill cannot leave half done.

    ID.wav        both channels, grows as the call goes; locked as long as its writer lives
    ID.flags      one byte a frame, written before the frame's audio
    ID.json       metadata, only ever replaced as a whole
    ID.flac       made at the end where asked for, from ID.flac.part

Refuses to know samples and what the metadata means.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

Metadata = dict[str, Any]


class RecordingError(Exception):
    """A recording that cannot be written or read; the message is one line a user can act on."""


@dataclass(frozen=True, slots=True)
class RecordingFiles:
    """The paths of one recording; `base` is the folder and the session id."""

    base: Path

    @property
    def wav(self) -> Path:
        return self.base.with_suffix(".wav")

    @property
    def flac(self) -> Path:
        return self.base.with_suffix(".flac")

    @property
    def flac_part(self) -> Path:
        return self.base.with_suffix(".flac.part")

    @property
    def flags(self) -> Path:
        return self.base.with_suffix(".flags")

    @property
    def json(self) -> Path:
        return self.base.with_suffix(".json")

    @property
    def json_part(self) -> Path:
        return self.base.with_suffix(".json.part")

    def container(self, name: str) -> Path:
        """The audio file of a container, "wav" or "flac"."""
        return self.base.with_suffix(f".{name}")

    def remove_all_but(self, audio: Path) -> None:
        """Remove what a finished recording needs no more: all but `audio` and the metadata."""
        for path in (self.flac_part, self.json_part, self.flags, self.flac, self.wav):
            if path != audio and path.exists():  # a read-only disk minds the attempt already
                path.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def create(path: Path) -> FileIO:
    """A new file that only its owner may read. Raises FileExistsError."""
    return FileIO(path, "x+", opener=_private)


def lock(file: FileIO) -> bool:
    """Take the file for as long as it is open in this process; False if someone else has it."""
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def is_locked(path: Path) -> bool:
    """Whether someone holds the lock of this file: its writer lives."""
    with suppress(OSError), FileIO(path, "r") as file:
        return not lock(file)
    return False


def write_at(file: FileIO, data: bytes, at: int) -> None:
    """Write all of `data` at an offset; OSError if the disk takes less."""
    while data:
        written = os.pwrite(file.fileno(), data, at)
        data, at = data[written:], at + written


def read_metadata(files: RecordingFiles) -> Metadata:
    """The metadata; empty if there is none. Raises RecordingError if it is not ours."""
    try:
        metadata = json.loads(files.json.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise RecordingError(f"{files.json} is not JSON: {error}") from error
    if not isinstance(metadata, dict):
        raise RecordingError(f"{files.json} is not a JSON object")
    return metadata


def replace_metadata(files: RecordingFiles, metadata: Metadata) -> None:
    """Readers see the old metadata or the new, never a part of either."""
    # a path that is no UTF-8 has lone surrogates, which JSON writes the way Python escapes them
    text = json.dumps(metadata, indent=1, ensure_ascii=False).encode(errors="backslashreplace")
    try:
        with FileIO(files.json_part, "w", opener=_private) as part:
            write_at(part, text, 0)
            os.fsync(part)
        os.replace(files.json_part, files.json)
    except OSError:
        with suppress(OSError):
            files.json_part.unlink(missing_ok=True)
        raise
