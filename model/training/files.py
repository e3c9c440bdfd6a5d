"""Files that are there whole or not at all, whenever the process is killed; and where they lie."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO


def cache_folder() -> Path:
    """Where this project keeps what it can make or fetch again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "duet"


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Writes beside `path`, makes it durable, then takes its place."""
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
