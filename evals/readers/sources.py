"""From a source, which is where a conversation lies and how, to the conversation.

Refuses to know how sources are found and scored.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from audio.frame_flags import FrameFlags
from audio.recording_files import RecordingError
from audio.recording_reader import open_recording
from evals.conversation import RATE, Conversation, InputError, Samples
from evals.driver.settings import LATE_MAX_MS
from evals.readers import fdb
from evals.readers.audio import equalled, read_pair, read_stereo
from evals.readers.sidecars import Beside, parse_annotations, read_beside
from evals.readers.words_json import parse_words, read_json

Kind = Literal["stereo", "recording", "driven", "fdb", "fdb_clean", "fdb_v2"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a conversation lies. path: of the file, or of the folder for those that are folders."""

    id: str
    kind: Kind
    path: Path
    user_channel: int = 0
    note: str = ""

    @property
    def sounds(self) -> tuple[Path, ...]:
        """The sound files, the user's first where there are two."""
        match self.kind:
            case "driven":
                return (self.path / "conversation.wav",)
            case "fdb":
                return self.path / "input.wav", self.path / "output.wav"
            case "fdb_clean":
                return self.path / "clean_input.wav", self.path / "clean_output.wav"
            case "fdb_v2":
                return self.path / "A.wav", self.path / "B.wav"
            case _:
                return (self.path,)


def load(source: Source) -> Conversation:
    """Raises InputError in one line where it cannot be scored."""
    metadata: dict[str, Any] = {}
    if source.kind == "driven":
        beside, metadata = _session(source.path)
    elif source.kind in ("fdb", "fdb_clean"):
        beside = fdb.read_v1(source.path, "clean_" if source.kind == "fdb_clean" else "")
    elif source.kind == "fdb_v2":
        beside = fdb.read_v2(source.path)
    else:
        beside = read_beside(source.path)
    user, agent, rate, notes = _sound(source, metadata)
    words = beside.repaired_words(len(user) / RATE)
    return Conversation(
        source.id,
        "|".join(map(str, source.sounds)),
        user,
        agent,
        words,
        words_source=beside.words_source,
        annotations=beside.placed_annotations(len(user) / RATE),
        reference=beside.reference,
        activity=beside.activity,
        log=tuple(beside.log),
        origin=str(metadata.get("origin", "server_out" if source.kind == "recording" else "unknown")),
        user_channel=source.user_channel,
        warnings=(*([source.note] if source.note else []), *notes, *beside.warnings),
        metadata=metadata | {"rate": rate},
        files=(*source.sounds, *beside.files),
    )


def _sound(source: Source, metadata: dict[str, Any]) -> tuple[Samples, Samples, int, tuple[str, ...]]:
    if len(source.sounds) == 2:
        return read_pair(*source.sounds)
    if source.kind == "recording":
        return _recording(source.path, metadata)
    user, agent, sound = read_stereo(source.sounds[0], source.user_channel)
    user, agent, notes = equalled(user, agent)
    return user, agent, sound.rate, (*sound.warnings, *notes)


def _recording(path: Path, metadata: dict[str, Any]) -> tuple[Samples, Samples, int, tuple[str, ...]]:
    try:
        recording = open_recording(path)
        samples = recording.samples
    except (RecordingError, OSError) as error:
        raise InputError(f"is no recording that can be read: {error}") from None
    if len(samples) == 0:
        raise InputError("holds no audio")
    kept = ("session_id", "status", "reason", "model", "origin")
    metadata |= {key: recording.metadata[key] for key in kept if key in recording.metadata}
    notes = [f"recording is {recording.metadata['status']}"] if metadata.get("status") != "finished" else []
    flags = recording.flags
    for flag in (FrameFlags.DROPPED_INPUT, FrameFlags.SILENCE_FED):
        count = sum(bool(one & flag) for one in flags)
        if count:
            notes.append(f"{count} of {len(flags)} frames are flagged {flag.name}")
    return samples[:, 0].copy(), samples[:, 1].copy(), RATE, tuple(notes)


def _session(folder: Path) -> tuple[Beside, dict[str, Any]]:
    """What the driver wrote beside a conversation."""
    data = read_json(folder / "session.json")
    if not isinstance(data, dict):
        raise InputError("session.json is no JSON object")
    beside = Beside(files=[folder / "session.json"])
    try:
        return beside, _told(beside, data)
    except InputError as error:
        raise InputError(f"session.json {error}") from None


def _told(beside: Beside, data: dict[str, Any]) -> dict[str, Any]:
    beside.annotations = parse_annotations(data.get("annotations", []))
    if data.get("words"):
        found = parse_words({"words": data["words"]})
        beside.words = {channel: words for channel, words in found.items() if channel}
        beside.words_source = "the model's own text"
    if data.get("status", "completed") != "completed":
        beside.warnings.append(f"the conversation {data['status']}: {data.get('error') or 'no reason given'}")
    beside.warnings += filter(None, [late_sender(data)])
    kept = ("scenario", "behaviour", "take", "model", "origin", "pace", "settings")
    return {key: data[key] for key in kept if key in data} | _clocks(data)


def _clocks(data: dict[str, Any]) -> dict[str, Any]:
    """Raises InputError where they are no pairs of seconds."""
    if "clocks" not in data:
        return {}
    try:
        pairs = [(float(first), float(second)) for first, second in data["clocks"]]
    except (TypeError, ValueError):
        pairs = [(math.nan, math.nan)]
    if not all(map(math.isfinite, chain.from_iterable(pairs))):
        raise InputError("has clocks that are no list of pairs of seconds")
    return {"clocks": pairs}


def late_sender(session: dict[str, Any]) -> str:
    """A line where the driver's own frames left too late to measure by, else ""."""
    live = session.get("live")
    late_ms = live.get("send_late_p99_ms") if isinstance(live, dict) else None
    if not isinstance(late_ms, int | float) or late_ms <= LATE_MAX_MS:
        return ""
    return (
        f"the driver's frames left late (p99 {late_ms:.0f} ms, over {LATE_MAX_MS:g} ms):"
        " its timing is not to be relied on"
    )


def safe_id(name: str) -> str:
    """A name that is a file name too."""
    return re.sub(r"[^\w.-]+", "_", name).strip("._") or "conversation"
