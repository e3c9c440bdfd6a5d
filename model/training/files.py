"""Files that are there whole or not at all, whenever the process is killed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import get_ident
from typing import IO


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Writes beside `path`, makes it durable, then takes its place. Of several writers the last wins."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.{get_ident()}.part")
    with beside.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
