"""The agent's answers as the language model writes them: a take's codes and its inner text.

A take begins with one frame of silence, in which the text says that a word is coming, and ends with
the silence after its last word. Knows the codec only through its `encode`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sentencepiece
import torch
from torch import Tensor

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, Samples
from model.training.corpus import Spoken
from model.training.crops import cut
from model.training.monologue import Tokens, lay
from model.training.plan import OPEN

LEAD_FRAMES = 30
"""Heard before a take, so that its codes are those of speech after silence."""
TAIL_FRAMES = 2
SETTLED_FRAMES = 60
"""After so much silence the codes do not change any more."""

Codes = npt.NDArray[np.int16]
Encode = Callable[[Tensor], Tensor]
"""[1, 1, samples] -> codes [1, books, frames]."""


@dataclass(frozen=True, slots=True)
class Take:
    """number: among the topic's takes. samples: float32 of all its frames. words, with their starts."""

    topic: str
    number: int
    samples: Samples
    words: tuple[tuple[str, float], ...]

    @property
    def frames(self) -> int:
        return len(self.samples) // FRAME_SAMPLES


@dataclass(frozen=True, slots=True)
class TakeCodes:
    """codes: [books, frames]. tokens: [frames]."""

    codes: Codes
    tokens: Tokens


def silent_codes(encode: Encode) -> Codes:
    """What the agent writes while it is silent: [books, 1]."""
    return codes_of(encode, np.zeros(SETTLED_FRAMES * FRAME_SAMPLES, np.float32))[:, -1:]


def agent_takes(spoken: Sequence[Spoken]) -> dict[str, list[Take]]:
    """Every take of every answer, by topic."""
    found: dict[str, list[Take]] = {}
    for item in spoken:
        if item.utterance.role == "agent" and item.utterance.topic != OPEN:
            among = found.setdefault(item.utterance.topic, [])
            among.append(_take(item, len(among)))
    return found


def _take(item: Spoken, number: int) -> Take:
    sound = item.samples()
    frames = 1 + -(-len(sound) // FRAME_SAMPLES) + TAIL_FRAMES
    shift_s = FRAME_SAMPLES / SAMPLE_RATE
    words = tuple((word.text, word.start_s + shift_s) for word in item.words)
    return Take(item.utterance.topic, number, cut(sound, -FRAME_SAMPLES, frames * FRAME_SAMPLES), words)


def take_codes(take: Take, encode: Encode, pieces: sentencepiece.SentencePieceProcessor) -> TakeCodes:
    led = np.concatenate([np.zeros(LEAD_FRAMES * FRAME_SAMPLES, np.float32), take.samples])
    words = [pieces.encode(text) for text, _ in take.words]
    tokens = lay(words, [start_s for _, start_s in take.words], take.frames)
    return TakeCodes(codes_of(encode, led)[:, LEAD_FRAMES:], tokens)


def codes_of(encode: Encode, samples: Samples) -> Codes:
    with torch.no_grad():
        heard = encode(torch.from_numpy(samples)[None, None])
    return heard[0].cpu().numpy().astype(np.int16)
