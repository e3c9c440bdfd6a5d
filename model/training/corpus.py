"""The spoken data on disk: shards of 16-bit sound with a list of what is said in each.

A shard's JSON is written last: a shard without one, or with another plan's utterances, is made
again, everything else is kept. So a stopped run goes on where it was. Refuses to know voices.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from audio.frames import Samples
from model.config import ModelError
from model.training.files import write_whole
from model.training.plan import Utterance
from model.training.word_spans import Word

SHARD = 100
FULL = 32_767
Progress = Callable[[int], object]
_BESIDE = ("start", "length", "words")


@dataclass(frozen=True, slots=True)
class Said:
    """What a synthesiser made: 24 kHz sound, and its words in order where it tells them."""

    samples: Samples
    words: tuple[Word, ...] = ()


Speak = Callable[[Utterance], Said]


@dataclass(frozen=True, slots=True)
class Spoken:
    """An utterance with its sound (int16, memory-mapped, 24 kHz) and where it lies.

    words: the agent's, with their times in the sound; none for users.
    """

    utterance: Utterance
    pcm: npt.NDArray[np.int16]
    shard: int
    start: int
    words: tuple[Word, ...] = ()

    def samples(self) -> Samples:
        return np.asarray(self.pcm, dtype=np.float32) / np.float32(FULL)


def render(folder: Path, planned: Sequence[Utterance], speak: Speak, progress: Progress, workers: int) -> int:
    """Makes what is missing and says how many utterances that were. `progress` hears every one."""
    folder.mkdir(parents=True, exist_ok=True)
    made = 0
    with ThreadPoolExecutor(workers) as pool:
        for number, batch in _shards(planned):
            if _listed(folder, number) == [asdict(utterance) for utterance in batch]:
                progress(len(batch))
                continue
            sounds = []
            for sound in pool.map(speak, batch):
                sounds.append(sound)
                progress(1)
            _write(folder, number, batch, sounds)
            made += len(batch)
    _remove_after(folder, -(-len(planned) // SHARD))
    return made


def read(folder: Path) -> list[Spoken]:
    """Every finished shard that lies there, in the plan's order. Raises ModelError when none does."""
    found = list(_read(folder))
    if not found:
        raise ModelError(f"{folder}: no spoken data; make it with: python -m model.training data")
    return found


def _read(folder: Path) -> Iterator[Spoken]:
    for number in sorted(_number(path) for path in folder.glob("shard-*.json")):
        entries = _entries(folder, number)
        pcm = np.load(_path(folder, number, "npy"), mmap_mode="r")
        for entry in entries:
            start, length, words = (entry.pop(name) for name in _BESIDE)
            said = tuple(Word(*word) for word in words)
            yield Spoken(Utterance(**entry), pcm[start : start + length], number, start, said)


def _shards(planned: Sequence[Utterance]) -> Iterator[tuple[int, Sequence[Utterance]]]:
    for start in range(0, len(planned), SHARD):
        yield start // SHARD, planned[start : start + SHARD]


def _path(folder: Path, number: int, kind: str) -> Path:
    return folder / f"shard-{number:04d}.{kind}"


def _entries(folder: Path, number: int) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(_path(folder, number, "json").read_text("utf-8"))
    return entries


def _listed(folder: Path, number: int) -> list[dict[str, Any]]:
    """The utterances of a finished shard; none when it is not finished."""
    if not _path(folder, number, "json").exists() or not _path(folder, number, "npy").exists():
        return []
    entries = _entries(folder, number)
    return [{key: entry[key] for key in entry if key not in _BESIDE} for entry in entries]


def _write(folder: Path, number: int, batch: Sequence[Utterance], sounds: Sequence[Said]) -> None:
    whole = [np.round(np.clip(sound.samples, -1, 1) * FULL).astype(np.int16) for sound in sounds]
    starts = np.cumsum([0, *(len(sound) for sound in whole)])
    entries = [
        {
            **asdict(utterance),
            "start": int(start),
            "length": len(pcm),
            "words": [astuple(word) for word in said.words],
        }
        for utterance, start, pcm, said in zip(batch, starts, whole, sounds, strict=False)
    ]
    _path(folder, number, "json").unlink(missing_ok=True)
    write_whole(_path(folder, number, "npy"), lambda file: np.save(file, np.concatenate(whole)))
    text = json.dumps(entries, indent=0).encode()
    write_whole(_path(folder, number, "json"), lambda file: file.write(text))


def _remove_after(folder: Path, count: int) -> None:
    """A smaller plan leaves no shards of a larger one behind."""
    for path in folder.glob("shard-*"):
        if _number(path) >= count:
            path.unlink()


def _number(path: Path) -> int:
    return int(path.name[6:10])
