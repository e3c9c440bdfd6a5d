"""The command `talk`: how the built-in model holds up in conversation, with counts and intervals.

Users of one part: held-out voices and phrasings for the figures, kept-back ones of training to
choose between checkpoints. Whisper hears what the agent said aloud. Decides nothing about training.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from model.checkpoint import load
from model.config import Sampling
from model.training import corpus
from model.training.callers import Callers, Part, Texts
from model.training.calls import Call, Reply, Switchboard
from model.training.counts import interval, spoken_words, word_errors
from model.training.files import write_whole
from model.training.hearing import Ear
from model.training.judge import Outcome, judge
from model.training.make_data import CORPUS
from model.training.recordings import recordings, topics_in
from model.training.scenes import Kind, Scene, SceneMaker
from model.training.texts import NOT_UNDERSTOOD, domain, held_out_sentences, plain

SIDE_BY_SIDE = 32
SLOW_SHARE = 0.35
"""Of the callers: those of the neural voices."""
COUNTS: dict[Kind, int] = {
    "request": 234,
    "echo": 40,
    "pause": 60,
    "barge-in": 60,
    "listener": 60,
    "not understood": 48,
    "repeat": 24,
    "silence": 12,
}
SHORT: dict[Kind, int] = {
    "request": 52,
    "pause": 12,
    "barge-in": 12,
    "listener": 12,
    "not understood": 12,
    "silence": 2,
}
HEARD = 80
"""Requests whose answers Whisper listens to."""


@dataclass(frozen=True, slots=True)
class Check:
    """What to measure. counts: how many calls of each kind. words: also let Whisper listen."""

    part: Part = "held_out"
    counts: Mapping[Kind, int] = field(default_factory=lambda: COUNTS)
    words: bool = True
    sampling: Sampling | None = None
    recordings: Path | None = None


def gate_b(folder: Path, model: Path, check: Check, report: Path | None) -> dict[str, Any]:
    """Prints the figures and writes them to `report` if there is one."""
    torch.set_num_threads(1)
    callers = Callers(Texts(domain().topics, check.part), corpus.read(folder / CORPUS), SLOW_SHARE)
    maker = SceneMaker(callers, [intent.name for intent in domain().intents], held_out_sentences())
    scenes = maker.scenes(check.counts)
    replies = carried(model, scenes, check.sampling)
    answers = {topic.name: topic.answers for topic in domain().topics if topic.answers}
    outcomes = [judge(scene, reply, answers) for scene, reply in zip(scenes, replies, strict=True)]
    figures = summary(scenes, outcomes) | right_answers_by_group(scenes, outcomes)
    if check.recordings:
        figures |= real_people(model, check, answers)
    if check.words and "request" in check.counts:
        figures["words"] = heard_words(scenes, replies)
    for name, figure in figures.items():
        print(f"{name}: {line_of(figure)}")
    if report:
        misses = [
            {
                "kind": scene.kind,
                "asked": scene.asked,
                "text": scene.text,
                "voice": scene.voice,
                **outcome.told(),
            }
            for scene, outcome in zip(scenes, outcomes, strict=True)
        ]
        text = json.dumps({"figures": figures, "calls": misses}, indent=1).encode()
        write_whole(report, lambda file: file.write(text))
    return figures


def carried(model: Path, scenes: Sequence[Scene], sampling: Sampling | None) -> list[Reply]:
    """Every scene as a call on the model in the folder."""
    board = Switchboard(load(str(model), "cpu", torch.float32), SIDE_BY_SIDE, sampling)
    calls = [Call(scene.samples, scene.seed, scene.echo) for scene in scenes]
    with tqdm(total=len(calls), desc="calls", unit="call") as bar:
        return board.carry(calls, bar.update)


def real_people(model: Path, check: Check, answers: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """How many answers to recordings of real people say that it did not understand."""
    sounds = recordings(check.recordings) if check.recordings else {}
    if not sounds:
        return {}
    board = Switchboard(load(str(model), "cpu", torch.float32), len(sounds), check.sampling)
    replies = board.carry([Call(sound, seed) for seed, sound in enumerate(sounds.values())], lambda _: None)
    given = [answer for reply in replies for answer in topics_in(reply, answers)]
    for said, topic in given:
        print(f"to a real person: {said!r} ({topic})")
    honest = sum(topic == NOT_UNDERSTOOD for _, topic in given)
    return {"real people: says that it did not understand": share(honest, len(given))} if given else {}


def summary(scenes: Sequence[Scene], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The figures by name: a share with its interval, or a time's median and 95th percentile."""
    by_kind: dict[str, list[Outcome]] = {}
    for scene, outcome in zip(scenes, outcomes, strict=True):
        by_kind.setdefault(scene.kind, []).append(outcome)
    figures: dict[str, Any] = {}
    for kind, found in by_kind.items():
        for name in found[0].checks:
            asked = [outcome.checks[name] for outcome in found if outcome.checks.get(name) is not None]
            if asked:
                figures[f"{kind}: {name}"] = share(sum(map(bool, asked)), len(asked))
    latencies = [outcome.latency_s for outcome in by_kind.get("request", []) if outcome.latency_s is not None]
    if latencies:
        median, late = np.percentile(latencies, [50, 95])
        figures["request: latency"] = {"median_s": round(float(median), 3), "p95_s": round(float(late), 3)}
    return figures


def right_answers_by_group(scenes: Sequence[Scene], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Of the requests: in phrasings that training heard or not, and by the voices' engine."""
    new = {plain(text) for topic in domain().topics for text in topic.held_out}
    groups: dict[str, list[bool]] = {}
    for scene, outcome in zip(scenes, outcomes, strict=True):
        if scene.kind == "request":
            phrasing = "new phrasings" if plain(scene.text) in new else "known phrasings"
            for group in (phrasing, scene.voice.partition(":")[0]):
                groups.setdefault(group, []).append(bool(outcome.checks["right answer"]))
    return {
        f"request: right answer, {group}": share(sum(right), len(right))
        for group, right in sorted(groups.items())
    }


def share(right: int, total: int) -> dict[str, Any]:
    low, high = interval(right, total)
    return {
        "share": round(right / total, 3),
        "right": right,
        "of": total,
        "low": round(low, 3),
        "high": round(high, 3),
    }


def heard_words(scenes: Sequence[Scene], replies: Sequence[Reply]) -> dict[str, Any]:
    """Whisper's words in the agent's sound against the agent's own text."""
    ear = Ear.open()
    requests = [reply for scene, reply in zip(scenes, replies, strict=True) if scene.kind == "request"]
    said = [reply for reply in requests if reply.said()]
    chosen = said[:: max(1, len(said) // HEARD)]
    errors = words = 0
    for reply in tqdm(chosen, desc="listening", unit="call"):
        wanted = spoken_words(reply.said())
        errors += word_errors(wanted, spoken_words(ear.words(reply.samples)))
        words += len(wanted)
    return {"wer": round(errors / max(1, words), 3), "errors": errors, "words": words, "calls": len(chosen)}


def line_of(figure: dict[str, Any]) -> str:
    if "share" in figure:
        return "{share:.3f} ({right}/{of}, 95 % {low:.3f} to {high:.3f})".format(**figure)
    return ", ".join(f"{name} {value}" for name, value in figure.items())
