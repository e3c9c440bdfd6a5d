"""The files of one transcript, and what a kill or a full disk cannot break.

    ID.transcript.open     what is known of a call that runs, as JSON; locked as long as its writer lives
    ID.transcript.jsonl    one line a word, only ever whole lines; stays beside the recording
    ID.transcript.json     the transcript of a call that has ended, only ever replaced as a whole

Files are for their owner only. All calls block on the disk. Refuses to know what stands in a line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

from audio.recording_files import create, lock, write_at

Json = dict[str, Any]

OPEN, LINES, WHOLE = ".transcript.open", ".transcript.jsonl", ".transcript.json"


class Lines:
    """A file of JSON lines that grows.

    Raises OSError where it cannot be made, or there is one already.
    """

    def __init__(self, path: Path) -> None:
        self._file = create(path)
        self._size = 0

    def append(self, lines: Iterable[Json]) -> None:
        """All of them or none. Raises OSError, and what stood there before still stands."""
        data = b"".join(_encoded(line) + b"\n" for line in lines)
        try:
            write_at(self._file, data, self._size)
        except OSError:
            with suppress(OSError):
                self._file.truncate(self._size)
            raise
        self._size += len(data)

    def close(self) -> None:
        """Raises OSError."""
        with self._file:
            os.fsync(self._file)


class Marker:
    """Says that a call runs, for as long as this process lives, and what is known of it.

    Raises OSError where it cannot be made, or there is one already.
    """

    def __init__(self, path: Path, metadata: Json) -> None:
        self._path = path
        self._file = create(path)
        try:
            lock(self._file)
            write_at(self._file, _encoded(metadata), 0)
        except OSError:
            self.remove()
            raise

    def remove(self) -> None:
        with self._file, suppress(OSError):
            self._path.unlink()

    def leave(self) -> None:
        """The next start is to find it."""
        self._file.close()


def read_lines(path: Path) -> list[Json]:
    """Every whole line; none where there is no file."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        return [json.loads(line) for line in file if line.endswith(b"\n")]
    return []


def write_whole(path: Path, content: Json) -> None:
    """Readers see the old content or the new, never a part of either. Raises OSError."""
    part = path.with_name(path.name + ".part")
    try:
        with FileIO(part, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            write_at(file, _encoded(content, indent=1), 0)
            os.fsync(file)
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def claim(path: Path) -> Json | None:
    """What a killed server's marker says; None where its writer lives. Raises OSError."""
    with FileIO(path, "r") as file:
        if not lock(file):
            return None
        try:
            return dict(json.loads(file.readall()))
        except (ValueError, TypeError):  # killed before it was whole
            return {}


def _encoded(content: Json, indent: int | None = None) -> bytes:
    # a word with lone surrogates, which JSON writes the way Python escapes them
    return json.dumps(content, ensure_ascii=False, indent=indent).encode(errors="backslashreplace")
