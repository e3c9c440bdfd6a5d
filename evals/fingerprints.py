"""What a result depends on, as one hash, so that a run resumes without computing anything twice."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from evals import activity
from evals.readers.sidecars import SUFFIXES
from evals.readers.sources import Source
from evals.results import SCHEMA
from evals.scoring import Settings

_BLOCK = 1 << 20
_ROOM = Path(__file__).parent
_MEASURE_NOTHING = ("bench", "driver", "report", "scenarios", "writers")


def version() -> str:
    """Of this project, as installed."""
    try:
        return f"duet {importlib.metadata.version('duet')}"
    except importlib.metadata.PackageNotFoundError:
        return "duet, not installed"


@lru_cache(maxsize=1)
def code(room: Path = _ROOM) -> str:
    """Of every source file that measures: a checkout changes more often than its version."""
    found = hashlib.sha256()
    for path in sorted(room.rglob("*.py")):
        if path.relative_to(room).parts[0] in _MEASURE_NOTHING:
            continue
        found.update(path.relative_to(room).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def fingerprint(source: Source, settings: Settings, extras: dict[str, str]) -> str:
    """Of the files' bytes, the settings, and the code that measures.

    extras: names and versions of what else takes part. Raises OSError where a file cannot be read.
    """
    facts = {
        "schema": SCHEMA,
        "version": version(),
        "code": code(),
        "detector": activity.version(settings.detector),
        "source": [source.id, source.kind, source.user_channel, str(source.path), source.note],
        "settings": asdict(settings),
        "extras": extras,
    }
    found = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for path in files_of(source):
        found.update(path.name.encode() + b"\0")
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                found.update(block)
    return found.hexdigest()


def files_of(source: Source) -> list[Path]:
    """Every file that a result may depend on."""
    sounds = list(source.sounds)
    if source.path.is_dir():
        return sounds + sorted(source.path.glob("*.json"))
    beside = [source.path.with_name(source.path.stem + suffix) for suffix in (*SUFFIXES, ".flags")]
    return sounds + [path for path in beside if path.is_file()]
