"""Folders of Full-Duplex-Bench from scored conversations, on which its own scripts can be run.

    <out>/<task>/<n>/   input.wav, output.wav (mono, one clock), output.json, input.json, and the task's file
    <out>/<task>.index.json    which conversation number n is
    v2: <out>/v2/<n>/   A.wav (user), B.wav (agent), combined.wav, A.json, B.json

The task file of a conversation without annotations is inferred, and the index says so. Folders are
numbered and hold nothing else, for the scripts list them. Written from the layout's description.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import soundfile

from evals.conversation import RATE, Annotation, InputError, Samples
from evals.intervals import Interval
from evals.results import ConversationResult, Lane
from evals.words import Word, text_of

Task = Literal["pause_handling", "backchannel", "smooth_turn_taking", "user_interruption"]
TASKS: tuple[Task, ...] = ("pause_handling", "backchannel", "smooth_turn_taking", "user_interruption")


def chunks(words: Sequence[Word]) -> dict[str, Any]:
    """The transcript's shape: times in seconds, three decimals."""
    return {
        "text": text_of(words),
        "chunks": [
            {"text": word.text, "timestamp": [round(word.start, 3), round(word.end, 3)]} for word in words
        ],
    }


def task_file(
    task: Task, result: ConversationResult, annotations: Sequence[Annotation]
) -> tuple[str, list[dict[str, Any]], bool] | None:
    """Name, content, and whether it is annotated; None for the task that has no file.

    Raises InputError where there is nothing for it in the conversation.
    """
    kinds = {"pause_handling": "pause", "smooth_turn_taking": "turn_end", "user_interruption": "interruption"}
    if task not in kinds:
        return None
    told = [a for a in annotations if a.type == kinds[task]]
    spans = [a.span for a in told] or _inferred(task, result)
    if not spans:
        raise InputError(f"has nothing for the task {task}")
    if task == "user_interruption":
        items = [
            {"context": "", "interrupt": text, "timestamp": _times(span)}
            for span, text in zip(spans, [a.text for a in told] or [""] * len(spans), strict=True)
        ]
        return "interrupt.json", items, bool(told)
    mark = "[PAUSE]" if task == "pause_handling" else "[TURN-TAKING]"
    name = "pause.json" if task == "pause_handling" else "turn_taking.json"
    return name, [{"text": mark, "timestamp": _times(span)} for span in spans], bool(told)


def _inferred(task: Task, result: ConversationResult) -> list[Interval]:
    kinds = {"pause_handling": "pause", "user_interruption": "interruption"}
    if task in kinds:
        found = [e for e in result.events if e.type == kinds[task]]
        if task == "pause_handling":
            return [Interval(e.start, e.end) for e in found]
        return [_turn_at(result.user, e.start) for e in found]
    turns = [turn for turn in result.user.turns if turn.kind == "turn"]
    return [Interval(turn.end, min(turn.end + 0.4, result.duration_s)) for turn in turns]


def _turn_at(lane: Lane, start: float) -> Interval:
    """The user's turn that interrupts."""
    turn = min(lane.turns, key=lambda t: abs(t.start - start))
    return Interval(turn.start, turn.end)


def _times(span: Interval) -> list[float]:
    return [round(span.start, 3), round(span.end, 3)]


def write_v1(
    folder: Path,
    result: ConversationResult,
    channels: tuple[Samples, Samples],
    task: Task,
    annotations: Sequence[Annotation],
) -> bool:
    """One conversation's folder. Returns whether its task file is annotated.

    Raises InputError where the agent was not transcribed, for every script reads its words.
    """
    if not result.agent.transcribed:
        raise InputError("has no words of the agent, and every script reads them: score it with --asr")
    file = task_file(task, result, annotations)
    folder.mkdir(parents=True, exist_ok=True)
    _wav(folder / "input.wav", channels[0])
    _wav(folder / "output.wav", channels[1])
    _json(folder / "output.json", chunks(result.agent.words))
    _json(folder / "input.json", chunks(result.user.words))
    if file is not None:
        _json(folder / file[0], file[1])
    return file is None or file[2]


def write_v2(folder: Path, result: ConversationResult, channels: tuple[Samples, Samples]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _wav(folder / "A.wav", channels[0])
    _wav(folder / "B.wav", channels[1])
    _wav(folder / "combined.wav", np.stack(channels, axis=1))
    _json(folder / "A.json", chunks(result.user.words))
    _json(folder / "B.json", chunks(result.agent.words))


def _wav(path: Path, samples: Samples) -> None:
    soundfile.write(path, samples, RATE, subtype="PCM_16")


def _json(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
