"""Which conversations lie under the given paths, in a fixed order. Looks at names, not at sound."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from evals.readers.sources import Kind, Source, safe_id
from evals.results import Rejected

SOUNDS = (".wav", ".flac", ".ogg", ".oga", ".opus")
_PAIRS: tuple[tuple[Kind, str, str], ...] = (
    ("fdb", "input.wav", "output.wav"),
    ("fdb_clean", "clean_input.wav", "clean_output.wav"),
    ("fdb_v2", "A.wav", "B.wav"),
)
_PAIR_FILES = {name for _, *names in _PAIRS for name in names} | {
    "context.wav",
    "interrupt.wav",
    "combined.wav",
}


@dataclass(frozen=True, slots=True)
class Found:
    """Sources with ids of their own, inputs that are none, and lines that a user should see."""

    sources: tuple[Source, ...]
    rejected: tuple[Rejected, ...]
    notes: tuple[str, ...]


def discover(paths: Iterable[Path], user_channel: int = 0) -> Found:
    """Files and folders, folders to any depth; one that was found twice counts once."""
    sources: list[Source] = []
    rejected: list[Rejected] = []
    notes: list[str] = []
    seen: set[tuple[str, Path]] = set()
    for path in paths:
        before = len(sources) + len(rejected)
        for found in _under(path, user_channel):
            if isinstance(found, Rejected):
                rejected.append(found)
            elif (key := (found.kind, found.path.resolve())) in seen:
                notes.append(f"{found.path}: is given twice: scored once")
                before -= 1
            else:
                seen.add(key)
                sources.append(found)
        if len(sources) + len(rejected) == before:
            rejected.append(Rejected(str(path), "holds no conversation: no sound file, and no known folder"))
    named = _named(sources)
    notes += [f"{source.path}: {source.note}" for source in named if source.note]
    return Found(tuple(named), tuple(rejected), tuple(notes))


def _under(
    path: Path, user_channel: int, above: frozenset[Path] = frozenset()
) -> Iterator[Source | Rejected]:
    """above: the folders that lead here, so that a link to one of them is not followed for ever."""
    if not path.exists():
        yield Rejected(str(path), "there is no such file or folder")
    elif path.is_file():
        yield _file(path, user_channel)
    elif path.resolve() in above:
        yield Rejected(str(path), "is a link to a folder that it lies in")
    else:
        try:
            yield from _inside(path, user_channel, above | {path.resolve()})
        except OSError as error:
            yield Rejected(str(path), f"cannot be read: {error.strerror or error}")


def _file(path: Path, user_channel: int) -> Source | Rejected:
    if path.suffix.lower() not in SOUNDS:
        return Rejected(str(path), f"is no sound file: its name ends in none of {', '.join(SOUNDS)}")
    if user_channel == 0 and _is_recording(path):
        return Source(safe_id(path.stem), "recording", path)
    return Source(safe_id(path.stem), "stereo", path, user_channel)


def _inside(folder: Path, user_channel: int, above: frozenset[Path]) -> Iterator[Source | Rejected]:
    if (folder / "session.json").is_file():
        yield _driven(folder)
        return
    names = {entry.name for entry in folder.iterdir()}
    for kind, user, agent in _PAIRS:
        if {user, agent} <= names:
            suffix = "-clean" if kind == "fdb_clean" else ""
            yield Source(safe_id(folder.name) + suffix, kind, folder)
        elif kind == "fdb" and user in names:
            yield Rejected(str(folder), f"has {user} and no {agent}: the model's answer is missing")
    paired = _PAIR_FILES if {"input.wav", "A.wav"} & names else set()
    results = {"conversations"} if {"metrics.json", "conversations"} <= names else set()
    for name in sorted(names - paired - results):
        entry = folder / name
        if entry.is_dir() and not name.startswith("."):
            yield from _under(entry, user_channel, above)
        elif entry.suffix.lower() in SOUNDS:
            yield _file(entry, user_channel)


def _driven(folder: Path) -> Source | Rejected:
    try:
        session = json.loads((folder / "session.json").read_text("utf-8"))
        name, scenario = str(session["id"]), str(session["scenario"])
        error = session.get("error")
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return Rejected(
            str(folder), "session.json is none of the driver's: no JSON object with id and scenario"
        )
    if not (folder / "conversation.wav").is_file():
        return Rejected(str(folder), f"the conversation failed: {error or 'no recording'}")
    return Source(safe_id(name if name.startswith(scenario) else f"{scenario}-{name}"), "driven", folder)


def _is_recording(path: Path) -> bool:
    """Our server's recorder describes its flags in the JSON beside the sound."""
    try:
        metadata = json.loads(path.with_suffix(".json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(metadata, dict) and "flag_bits" in metadata


def _named(sources: list[Source]) -> list[Source]:
    """Of several with one name, each gets its folder's name too, and a number if that is not enough."""
    counts = Counter(source.id for source in sources)
    taken: set[str] = set()
    named = []
    for source in sources:
        one = source
        if counts[source.id] > 1:
            longer = safe_id(f"{source.path.resolve().parent.name}-{source.id}")
            one = replace(
                source, id=longer, note=f"{counts[source.id]} inputs are named {source.id}: this is {longer}"
            )
        if one.id in taken:
            number = next(name for n in count(2) if (name := f"{one.id}-{n}") not in taken)
            one = replace(
                one, id=number, note=f"{counts[source.id]} inputs are named {source.id}: this is {number}"
            )
        taken.add(one.id)
        named.append(one)
    return named
