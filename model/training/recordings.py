"""Recordings of real people through the model: each answer it gave, and what it took them for.

They are outside its domain, so a polite "did not understand" is right. Refuses to know what they say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import soundfile
import soxr

from audio.frames import FRAME_RATE, FRAME_SAMPLES, SAMPLE_RATE, Samples
from model.training.calls import Reply
from model.training.crops import cut
from model.training.verdicts import topic_of

SUFFIXES = (".wav", ".mp3", ".flac")
AFTER_S = 5.0
APART_S = 1.2
"""Answers with so much time between their words are two."""


def recordings(folder: Path) -> dict[str, Samples]:
    """By file name: 24 kHz mono with time to answer behind it; none when the folder is absent."""
    paths = sorted(path for path in folder.glob("*") if path.suffix in SUFFIXES)
    return {path.name: _read(path) for path in paths}


def answers_in(reply: Reply) -> list[str]:
    """What the agent said, answer by answer."""
    parts: list[str] = []
    last = -np.inf
    for frame, piece in reply.text:
        if frame - last > APART_S * FRAME_RATE:
            parts.append("")
        parts[-1] += piece
        last = frame
    return [part.strip() for part in parts]


def topics_in(reply: Reply, answers: Mapping[str, Sequence[str]]) -> list[tuple[str, str | None]]:
    """Each answer with the topic it belongs to."""
    return [(said, topic_of(said, answers)) for said in answers_in(reply)]


def _read(path: Path) -> Samples:
    sound, rate = soundfile.read(path, dtype="float32", always_2d=True)
    mono = soxr.resample(sound.mean(axis=1), rate, SAMPLE_RATE).astype(np.float32)
    frames = int(len(mono) / FRAME_SAMPLES + AFTER_S * FRAME_RATE)
    return cut(mono, 0, frames * FRAME_SAMPLES)
