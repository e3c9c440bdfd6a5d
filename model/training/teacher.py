"""What a speech recogniser hears, step by step: the features that the first codebook learns to tell.

Whisper base's encoder (MIT, https://arxiv.org/abs/2212.04356), 50 steps a second, reduced to its
main directions. Utterances are packed into its windows of 30 s. Refuses to know the codec.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soxr

from audio.frames import SAMPLE_RATE
from model.training.corpus import Spoken
from model.training.crops import TEACHER_HOP, Clip
from model.training.files import write_whole
from model.training.hearing import RATE, Ear

FEATURES = 32
FOLDER = "teacher"
WINDOW_S = 30
GAP_S = 0.4
STEPS_A_SECOND = SAMPLE_RATE // TEACHER_HOP
BASIS_SHARDS = 8
"""Spread over the data; enough to find the main directions."""

Floats = npt.NDArray[np.float32]
Encode = Callable[[Floats], Floats]
"""16 kHz samples of at most a window -> [steps, width]."""


def listen(folder: Path, spoken: Sequence[Spoken], progress: Callable[[int], object]) -> None:
    """Writes each shard's features beside the corpus; shards that have them are passed over."""
    where = folder / FOLDER
    where.mkdir(exist_ok=True)
    shards = _by_shard(spoken)
    missing = [number for number, items in shards.items() if not _is_heard(where, number, items)]
    progress(sum(len(items) for number, items in shards.items() if number not in missing))
    if not missing:
        return
    encode = Ear.open().encode
    basis = _basis(where, shards, encode)
    for number in missing:
        heard = [(step - basis[0]) @ basis[1] for step in _hear(shards[number], encode)]
        _save(where / f"shard-{number:04d}.npy", np.concatenate(heard).astype(np.float16))
        progress(len(shards[number]))


def clips(folder: Path, spoken: Sequence[Spoken]) -> list[Clip]:
    """Every utterance with its features, or without where the teacher has not listened."""
    found: list[Clip] = []
    for number, items in _by_shard(spoken).items():
        if not _is_heard(folder / FOLDER, number, items):
            found += [Clip(item, None) for item in items]
            continue
        features = np.load(folder / FOLDER / f"shard-{number:04d}.npy")
        ends = np.cumsum([steps(item) for item in items])
        parts = np.split(features, ends[:-1])
        found += [Clip(item, part) for item, part in zip(items, parts, strict=True)]
    return found


def steps(item: Spoken) -> int:
    """How many features an utterance has."""
    return -(-len(item.pcm) // TEACHER_HOP)


def directions(features: Floats, count: int) -> tuple[Floats, Floats]:
    """The mean, and the main directions scaled so that each varies by 1: [width], [width, count]."""
    mean = features.mean(axis=0)
    spread, axes = np.linalg.eigh(np.cov((features - mean).T))
    order = np.argsort(spread)[::-1][:count]
    return mean, np.asarray(axes[:, order] / np.sqrt(spread[order] + 1e-8), dtype=np.float32)


def _by_shard(spoken: Sequence[Spoken]) -> dict[int, list[Spoken]]:
    shards: dict[int, list[Spoken]] = {}
    for item in spoken:
        shards.setdefault(item.shard, []).append(item)
    return shards


def _is_heard(where: Path, number: int, items: Sequence[Spoken]) -> bool:
    path = where / f"shard-{number:04d}.npy"
    if not path.exists():
        return False
    return int(np.load(path, mmap_mode="r").shape[0]) == sum(steps(item) for item in items)


def _basis(where: Path, shards: dict[int, list[Spoken]], encode: Encode) -> tuple[Floats, Floats]:
    """Found once, from shards spread over the data, and kept."""
    path = where / "basis.npz"
    if not path.exists():
        some = list(shards)[:: max(1, len(shards) // BASIS_SHARDS)]
        heard = np.concatenate([step for number in some for step in _hear(shards[number], encode)])
        mean, axes = directions(heard, FEATURES)
        write_whole(path, lambda file: np.savez(file, mean=mean, axes=axes))
    kept = np.load(path)
    return kept["mean"], kept["axes"]


def _hear(items: Sequence[Spoken], encode: Encode) -> Iterator[Floats]:
    """The features of each utterance, many of them to a window."""
    for packed in windows([steps(item) / STEPS_A_SECOND for item in items]):
        sound = np.zeros(WINDOW_S * RATE, np.float32)
        for index, start_s in packed:
            speech = soxr.resample(items[index].samples(), SAMPLE_RATE, RATE)
            at = round(start_s * RATE)
            sound[at : at + len(speech)] = speech[: len(sound) - at]
        heard = encode(sound)
        for index, start_s in packed:
            at = round(start_s * STEPS_A_SECOND)
            yield heard[at : at + steps(items[index])]


def windows(lengths_s: Sequence[float]) -> list[list[tuple[int, float]]]:
    """Packs utterances, in order, into windows: (index, start in s) with a gap before each.

    Starts lie on the teacher's grid; an utterance longer than a window does not exist here.
    """
    packed: list[list[tuple[int, float]]] = [[]]
    at = GAP_S
    for index, length_s in enumerate(lengths_s):
        if at + length_s > WINDOW_S and packed[-1]:
            packed.append([])
            at = GAP_S
        packed[-1].append((index, round(at * STEPS_A_SECOND) / STEPS_A_SECOND))
        at += length_s + GAP_S
    return packed


def _save(path: Path, features: npt.NDArray[np.float16]) -> None:
    write_whole(path, lambda file: np.save(file, features))
