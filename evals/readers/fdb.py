"""Folders of Full-Duplex-Bench, v1, v1.5 and v2: which files make a conversation, and their annotations.

    v1    input.wav, output.wav, output.json; pause.json, turn_taking.json or interrupt.json
    v1.5  the same, metadata.json instead, and a twin clean_input.wav, clean_output.wav
    v2    A.wav (examiner: the user), B.wav (examinee: the agent), A.json, B.json

Written from the layout's description. Refuses to know the benchmark's scripts.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from evals.conversation import Annotation, InputError
from evals.intervals import Interval
from evals.readers.sidecars import Beside, take, use_channel_json
from evals.readers.words_json import read_json

V15_TYPES = {
    "user_interruption": "interruption",
    "user_backchannel": "backchannel",
    "talking_to_other": "talk_to_other",
    "background_speech": "background",
}
"""The annotation's type by the subset's folder: the files themselves do not say it."""


def read_v1(folder: Path, prefix: str = "") -> Beside:
    """Words and annotations of a v1 or v1.5 folder; `prefix` is "clean_" for the twin without overlap."""
    found = Beside()
    _take_words(found, folder / f"{prefix}input.json", folder / f"{prefix}output.json")
    if prefix:
        return found
    for name, kind in (("pause", "pause"), ("turn_taking", "turn_end"), ("interrupt", "interruption")):
        path = folder / f"{name}.json"
        if path.is_file():
            take(found, path, partial(_use_task, kind))
    if (folder / "metadata.json").is_file():
        take(found, folder / "metadata.json", _use_metadata)
    return found


def read_v2(folder: Path) -> Beside:
    """Words of a v2 pair."""
    found = Beside()
    _take_words(found, folder / "A.json", folder / "B.json")
    return found


def _take_words(found: Beside, user: Path, agent: Path) -> None:
    if user.is_file():
        take(found, user, use_channel_json("user"))
    if agent.is_file():
        take(found, agent, use_channel_json("agent"))


def _use_task(kind: str, found: Beside, path: Path) -> None:
    """A list of stretches; a turn's end is where its stretch begins."""
    data = read_json(path)
    try:
        for item in data:
            start, end = map(float, item["timestamp"])
            span = Interval(start, start if kind == "turn_end" else end)
            found.annotations.append(Annotation(kind, span, text=str(item.get("interrupt", ""))))
    except (TypeError, KeyError, ValueError) as error:
        raise InputError(f"is no task file of Full-Duplex-Bench: {error!r}") from None


def _use_metadata(found: Beside, path: Path) -> None:
    kind = next((V15_TYPES[part] for part in reversed(path.parts) if part in V15_TYPES), None)
    if kind is None:
        raise InputError(
            f"lies in none of the folders {', '.join(V15_TYPES)}, and does not say what it annotates"
        )
    data: Any = read_json(path)
    try:
        start, end = map(float, data["timestamps"])
        found.annotations.append(
            Annotation(kind, Interval(start, end), text=str(data.get("current_turn_text", "")))
        )
    except (TypeError, KeyError, ValueError) as error:
        raise InputError(f"has no timestamps: {error!r}") from None
