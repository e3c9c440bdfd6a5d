"""What was staged, exactly: each clip that was said as the annotation that scores it.

Times are those of the sound, not of the file: a clip's silence before its first sound and after its
last is no part of the event (placement alone can be half a second early).
Refuses to know how anything is scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from audio.formats import from_pcm16
from audio.frames import SAMPLE_RATE
from evals.driver.cues import Cue, State
from evals.driver.hearing import HOP_SAMPLES, THRESHOLD_DBFS, level_dbfs


@dataclass(frozen=True, slots=True)
class Annotation:
    """An event of the user's, in seconds from the start of the recording.

    type: turn_end, pause, interruption, backchannel, talk_to_other, background or tic.
    expected: what a good agent does: respond, wait (hold its turn back) or resume (go on).
    cue: id of the `[[say]]` it comes from. text: its words, where the scenario has them.
    """

    type: str
    start: float
    end: float
    expected: str
    cue: str
    text: str = ""
    channel: str = "user"

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"start": round(self.start, 6), "end": round(self.end, 6)}


def annotate(cues: Sequence[Cue], end: int) -> list[Annotation]:
    """Those of all clips whose sound began before sample `end`, in order of time.

    A clip whose condition timed out and that was said anyway is no event of its kind (there was no agent
    to interrupt): of it only the end of the turn is told.
    """
    said = {cue.say.id: cue for cue in cues if cue.state is State.DUE and _sound(cue)[0] < end / SAMPLE_RATE}
    continued = {cue.say.continues for cue in said.values()}
    found: list[Annotation] = []
    for cue in said.values():
        first, last = _sound(cue)
        if cue.say.event != "turn" and not cue.timed_out:
            found.append(_note(cue, cue.say.event, first, last, cue.say.expected))
        found += _pauses(cue, said.get(cue.say.continues or ""))
        if cue.say.event in ("turn", "interruption") and cue.say.id not in continued:
            found.append(_note(cue, "turn_end", last, last, cue.say.expected))
    heard = (_until(note, end / SAMPLE_RATE) for note in found)
    return sorted((note for note in heard if note), key=lambda note: (note.start, note.end, note.type))


def sound(pcm: npt.NDArray[np.int16]) -> tuple[int, int]:
    """Where the sound of a clip begins and ends, to the hop of 10 ms; all of it where none is loud enough."""
    hops = np.array_split(from_pcm16(pcm), range(HOP_SAMPLES, len(pcm), HOP_SAMPLES))
    loud = [n for n, hop in enumerate(hops) if level_dbfs(hop) >= THRESHOLD_DBFS]
    if not loud:
        return 0, len(pcm)
    return loud[0] * HOP_SAMPLES, min(len(pcm), (loud[-1] + 1) * HOP_SAMPLES)


def _pauses(cue: Cue, before: Cue | None) -> list[Annotation]:
    """Those inside the clip, and the one between it and the clip whose turn it continues."""
    place = cue.start / SAMPLE_RATE
    spans = [(place + start, place + end) for start, end in cue.say.pauses_s]
    if before is not None:
        spans.append((_sound(before)[1], _sound(cue)[0]))
    return [_note(cue, "pause", start, end, "wait") for start, end in spans if start < end]


def _note(cue: Cue, kind: str, start: float, end: float, expected: str) -> Annotation:
    return Annotation(kind, start, end, expected, cue.say.id, cue.say.text)


def _until(note: Annotation, end: float) -> Annotation | None:
    """What of it is in the recording; a turn whose end is not there has none."""
    if note.end > end and (note.type == "turn_end" or note.start >= end):
        return None
    return replace(note, end=min(note.end, end))


def _sound(cue: Cue) -> tuple[float, float]:
    """Seconds of the recording from which and until which the clip can be heard."""
    first, last = sound(cue.say.clip.pcm)
    return (cue.start + first) / SAMPLE_RATE, (cue.start + last) / SAMPLE_RATE
