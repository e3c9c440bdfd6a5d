"""What a conversation leaves on disk, and whether it is there already.

    <out>/<scenario>/<id>/conversation.wav   s16, 24 kHz, channel 0 the user, channel 1 the agent at the ear
                          input.wav, output.wav   the same two, each alone, from the same first moment
                          arrivals.jsonl     every event with its arrival on the sender's clock
                          session.json       what it was, and the annotations for scoring
A conversation that failed leaves `partial.wav` instead of the three, so that nobody scores it by mistake.
A folder appears whole or not at all. Refuses to know sockets and clocks.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile

from audio.formats import to_pcm16
from audio.frames import SAMPLE_RATE, Samples
from evals.driver.settings import Plan

SESSION = "session.json"
COMPLETED, TIMED_OUT, FAILED = "completed", "timed_out", "failed"


def place(out: Path, plan: Plan) -> Path:
    return out / plan.scenario.name / plan.id


def kept(out: Path, plan: Plan) -> dict[str, Any] | None:
    """The session.json of an earlier attempt at the same conversation; None where it was another one."""
    try:
        session = read_json(place(out, plan) / SESSION)
    except (OSError, ValueError):
        return None
    return session if session.get("fingerprint") == plan.fingerprint else None


def write(
    target: Path,
    session: dict[str, Any],
    arrivals: Sequence[dict[str, Any]],
    frames: tuple[Sequence[Samples], Sequence[Samples]],
) -> None:
    """Replaces what an earlier attempt left. frames: the user's and the agent's, equally many.

    Raises:
        OSError: it cannot be written.
    """
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    both = np.stack([_joined(channel) for channel in frames], axis=1)
    if session["status"] == FAILED:
        _wav(partial / "partial.wav", both)
    else:
        _wav(partial / "conversation.wav", both)
        _wav(partial / "input.wav", both[:, 0])
        _wav(partial / "output.wav", both[:, 1])
    lines = [json.dumps(arrival, ensure_ascii=False) + "\n" for arrival in arrivals]
    (partial / "arrivals.jsonl").write_text("".join(lines), "utf-8")
    (partial / SESSION).write_text(dump(session), "utf-8")
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replaces the file in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.partial")
    fresh.write_text(dump(value), "utf-8")
    os.replace(fresh, path)


def read_json(path: Path) -> dict[str, Any]:
    """Raises OSError, or ValueError where it holds no JSON object."""
    value = json.loads(path.read_text("utf-8"))
    if not isinstance(value, dict):
        raise ValueError("it holds no JSON object")
    return value


def dump(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _joined(frames: Sequence[Samples]) -> npt.NDArray[np.int16]:
    return to_pcm16(np.concatenate(frames)) if frames else np.zeros(0, np.int16)


def _wav(path: Path, pcm: npt.NDArray[np.int16]) -> None:
    try:
        soundfile.write(path, pcm, SAMPLE_RATE, subtype="PCM_16", format="WAV")
    except soundfile.LibsndfileError as error:
        raise OSError(f"cannot write {path}: {error}") from error
