"""The agent's utterances as codes, for a stage in which the codes no longer change.

Each is encoded a few times at offsets of its own, once per stage. Kept in memory: an hour of
speech is 3 MB of codes. Knows the codec only through its `encode`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from audio.frames import FRAME_SAMPLES
from model.training import vary
from model.training.crops import AGENT_GAIN_CHANCE, AGENT_GAIN_DB, Clip, cut
from model.training.plan import OPEN

LEAD_SAMPLES = 480
TAIL_FRAMES = 1

Encode = Callable[[Tensor], Tensor]
"""[1, 1, samples] -> codes [1, books, frames]."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """codes: [books, frames]. The sound is the clip's, from `start` (negative: silence first)."""

    clip: Clip
    start: int
    gain: float
    codes: npt.NDArray[np.int16]

    def sound(self, first_frame: int, frames: int) -> npt.NDArray[np.float32]:
        at = self.start + first_frame * FRAME_SAMPLES
        return cut(self.clip.spoken.samples(), at, frames * FRAME_SAMPLES) * np.float32(self.gain)


@dataclass(frozen=True, slots=True)
class Encodings:
    """By what is said, as in the pool they were made of."""

    answers: Sequence[Encoding]
    open: Sequence[Encoding]

    def draw(
        self, random: np.random.Generator, *, rows: int, frames: int, answers_share: float
    ) -> tuple[Tensor, Tensor]:
        """Codes [rows, books, frames] and the sound they should become [rows, samples]."""
        codes, sounds = [], []
        for _ in range(rows):
            group = self.answers if random.random() < answers_share else self.open
            item = group[int(random.integers(len(group)))]
            first = int(random.integers(item.codes.shape[1] - frames + 1))
            codes.append(item.codes[:, first : first + frames].astype(np.int64))
            sounds.append(item.sound(first, frames))
        return torch.from_numpy(np.stack(codes)), torch.from_numpy(np.stack(sounds))


def encode_all(
    clips: Sequence[Clip],
    encode: Encode,
    *,
    seed: Sequence[int],
    times: int,
    least: int,
    progress: Callable[[int], object],
) -> Encodings:
    """`times` encodings of every clip, of at least `least` frames each."""
    found = []
    for number, clip in enumerate(clips):
        random = np.random.default_rng([*seed, number])
        found += [_encode(clip, encode, random, least) for _ in range(times)]
        progress(1)
    is_open = [item.clip.spoken.utterance.topic == OPEN for item in found]
    return Encodings(
        answers=[item for item, other in zip(found, is_open, strict=True) if not other],
        open=[item for item, other in zip(found, is_open, strict=True) if other],
    )


def _encode(clip: Clip, encode: Encode, random: np.random.Generator, least: int) -> Encoding:
    start = -LEAD_SAMPLES - int(random.integers(FRAME_SAMPLES))
    frames = max(least, -(-(len(clip.spoken.pcm) - start) // FRAME_SAMPLES) + TAIL_FRAMES)
    gain = vary.decibels(random.uniform(*AGENT_GAIN_DB)) if random.random() < AGENT_GAIN_CHANCE else 1.0
    empty = Encoding(clip, start, gain, np.zeros((0, 0), np.int16))
    heard = torch.from_numpy(empty.sound(0, frames))[None, None]
    with torch.no_grad():
        codes = encode(heard)[0].cpu().numpy().astype(np.int16)
    return Encoding(clip, start, gain, codes)
