"""Where compiled kernels lie between starts: a folder named by their sources, under a seal.

What is not as the seal says is thrown away: a damaged file would end every start, or compute something
else. Where nothing can be kept, every start compiles. Refuses to know how one compiles.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from model.cache import cache_folder

SEAL = "seal"
FORGOTTEN_S = 30 * 24 * 3600
"""Kernels of other versions are thrown away when nobody has compiled any for so long."""

log = logging.getLogger("duet.model")


class Shelf:
    """folder: None where nothing can be kept."""

    def __init__(self, version: str) -> None:
        self.folder: Path | None = None
        try:
            self.folder = _opened(cache_folder() / "kernels" / version)
        except (OSError, RuntimeError) as error:
            self._say(error)

    def seal(self) -> None:
        """What lies there now is whole."""
        if self.folder is None:
            return
        try:
            (self.folder / SEAL).write_text(_digest(self.folder))
        except OSError as error:
            self.close(error)

    def close(self, reason: Exception) -> None:
        """Nothing is looked up and kept from now on."""
        self.folder = None
        self._say(reason)

    def _say(self, reason: Exception) -> None:
        log.warning("the CPU's kernels are compiled at every start, for some seconds: %s", reason)


def _opened(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    seal = folder / SEAL
    if seal.exists() and seal.read_text() == _digest(folder):
        return folder
    if any(_files(folder)):
        log.warning("compiled kernels were damaged or not all there: compiling them anew, for some seconds")
        for path in [*_files(folder), seal]:
            path.unlink(missing_ok=True)
    else:
        log.info("compiling kernels for this processor, once: this takes some seconds")
    _forget(folder.parent, time.time() - FORGOTTEN_S)
    return folder


def _forget(parent: Path, before: float) -> None:
    for other in parent.iterdir():
        if other.stat().st_mtime < before:
            shutil.rmtree(other, ignore_errors=True)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != SEAL)


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in _files(folder):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder)} {len(content)} ".encode() + content)
    return digest.hexdigest()
