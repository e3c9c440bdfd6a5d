"""Where this project keeps what it can make or fetch again. Refuses to know what that is."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Raises RuntimeError where the user has no home folder and XDG_CACHE_HOME is not set."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "duet"
