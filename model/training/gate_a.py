"""The command `check`: what the codec keeps of words, in its sound and in its codes.

Gate A: the agent's answers heard by Whisper base through streaming coding with a word error rate
of at most 0.08, sentences it never trained on of at most 0.25, and the intents of unseen voices
told from their codes in at least 0.95. `ceiling` asks the same probe about the sound itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import torch
from tqdm import tqdm

from audio.frames import Samples
from model.config import ModelError
from model.training import corpus
from model.training.coding import open_codec, said_by_codes, said_by_sound, through_streaming
from model.training.corpus import Spoken
from model.training.counts import interval, spoken_words, word_errors
from model.training.files import write_whole
from model.training.hearing import Ear
from model.training.make_data import CORPUS
from model.training.plan import OPEN
from model.training.probe import Example, ProbeSettings, examples, told, train_probe
from model.training.texts import domain
from model.training.voices import is_natural

SIDE_BY_SIDE = 8
REPORT = "gate-a.json"


def gate_a(folder: Path, codec_folder: Path, parts: Sequence[str]) -> None:
    """Measures the parts asked for, prints the figures and adds them to the report in the folder."""
    torch.set_num_threads(1)
    codec = open_codec(codec_folder)
    spoken = corpus.read(folder / CORPUS)
    figures: dict[str, Any] = {}
    if "originals" in parts:
        figures |= _words(spoken, "originals", list)
    if "words" in parts:
        figures |= _words(spoken, "coded", lambda sounds: through_streaming(codec, sounds))
    if "probe" in parts:
        figures |= _probe(spoken, "codes", lambda sound: said_by_codes(codec, sound))
    if "ceiling" in parts:
        figures |= _probe(spoken, "log-mels", said_by_sound)
    report = folder / REPORT
    before = json.loads(report.read_text()) if report.exists() else {}
    text = json.dumps(before | figures, indent=2).encode()
    write_whole(report, lambda file: file.write(text))


def answers(spoken: Sequence[Spoken]) -> list[Spoken]:
    """The first take of each answer of the agent."""
    first: dict[str, Spoken] = {}
    for item in spoken:
        if item.utterance.role == "agent" and item.utterance.topic != OPEN:
            first.setdefault(item.utterance.text, item)
    return list(first.values())


def never_trained(spoken: Sequence[Spoken]) -> list[Spoken]:
    """The agent's sentences that no training hears."""
    return [item for item in spoken if item.utterance.role == "agent" and item.utterance.split == "held_out"]


def _words(
    spoken: Sequence[Spoken], name: str, code: Callable[[Sequence[Samples]], list[Samples]]
) -> dict[str, Any]:
    ear = Ear.open()
    figures = {}
    for what, items in (("answers", answers(spoken)), ("held-out sentences", never_trained(spoken))):
        if not items:
            raise ModelError(f"the data has no {what} of the agent")
        lines = _heard(items, code, ear, f"{name}, {what}")
        errors, words = sum(line["errors"] for line in lines), sum(line["words"] for line in lines)
        print(f"{name}, {what}: WER {errors / words:.3f} ({errors}/{words} words, {len(items)} clips)")
        wrong = [line for line in lines if line["errors"]]
        figures[f"{name}, {what}"] = {"wer": errors / words, "errors": errors, "words": words, "wrong": wrong}
    return figures


def _heard(
    items: Sequence[Spoken], code: Callable[[Sequence[Samples]], list[Samples]], ear: Ear, label: str
) -> list[dict[str, Any]]:
    """Longest first, so that what is coded side by side is of like length."""
    order = sorted(items, key=lambda item: -len(item.pcm))
    lines = []
    with tqdm(total=len(order), desc=label, unit="clip") as bar:
        for start in range(0, len(order), SIDE_BY_SIDE):
            group = order[start : start + SIDE_BY_SIDE]
            for item, sound in zip(group, code([item.samples() for item in group]), strict=True):
                heard = ear.words(sound)
                wanted = spoken_words(item.utterance.text)
                errors = word_errors(wanted, spoken_words(heard))
                line = {"said": item.utterance.text, "heard": heard, "errors": errors, "words": len(wanted)}
                lines.append(line)
                bar.update(1)
    return lines


def _probe(spoken: Sequence[Spoken], of: str, encode: Callable[[Samples], Any]) -> dict[str, Any]:
    settings = ProbeSettings()
    names = [intent.name for intent in domain().intents]
    users = [item for item in spoken if item.utterance.role == "user" and item.utterance.topic in names]
    train = _some([item for item in users if item.utterance.split == "train"], settings)
    held = [item for item in users if item.utterance.split == "held_out"]
    total = settings.encodings * len(train) + len(held)
    with tqdm(total=total, desc="encoding the users", unit="utterance", mininterval=5) as bar:
        times, seed, another = settings.encodings, settings.seed, settings.another
        known = _counted(examples(train, names, encode, times=times, seed=seed, another=another), bar)
        asked = _counted(examples(held, names, encode, times=1, seed=seed + 1), bar)
    with tqdm(total=settings.epochs, desc="training the probe", unit="epoch") as bar:
        probe = train_probe(known, len(names), settings, bar.update)
    right = told(probe, asked, settings.batch)
    groups = {
        "all": [True] * len(asked),
        "known phrasings": [example.spoken.utterance.seen_text for example in asked],
        "new phrasings": [not example.spoken.utterance.seen_text for example in asked],
        "flite": [example.spoken.utterance.voice.startswith("flite") for example in asked],
        "kokoro": [example.spoken.utterance.voice.startswith("kokoro") for example in asked],
        "espeak": [example.spoken.utterance.voice.startswith("espeak") for example in asked],
    }
    return {
        f"probe of {of}, {name}": _share(f"probe of {of}, {name}", right, among)
        for name, among in groups.items()
    }


def _some(train: Sequence[Spoken], settings: ProbeSettings) -> list[Spoken]:
    """All natural voices, and as many of the others as the settings allow."""
    natural = [item for item in train if is_natural(item.utterance.voice)]
    others = [item for item in train if not is_natural(item.utterance.voice)]
    left = min(len(others), max(0, settings.utterances - len(natural)))
    return natural + Random(settings.seed).sample(others, left)


def _counted(found: Any, bar: tqdm[Any]) -> list[Example]:
    kept = []
    for example in found:
        kept.append(example)
        bar.update(1)
    return kept


def _share(name: str, right: Sequence[bool], among: Sequence[bool]) -> dict[str, Any]:
    chosen = [ok for ok, counts in zip(right, among, strict=True) if counts]
    low, high = interval(sum(chosen), len(chosen))
    share = sum(chosen) / len(chosen)
    print(f"{name}: {share:.3f} ({sum(chosen)}/{len(chosen)}, 95 % {low:.3f} to {high:.3f})")
    return {"share": share, "right": sum(chosen), "asked": len(chosen), "low": low, "high": high}
