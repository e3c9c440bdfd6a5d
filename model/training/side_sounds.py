"""Sounds of a room that are no speech and want no answer: coughs, knocks, keys, a hum. Seeded numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from audio.frames import SAMPLE_RATE, Samples

COUGH_S = (0.15, 0.3)
KNOCK_HZ = (90.0, 400.0)
HUM_HZ = (48.0, 125.0)


def side_sound(random: np.random.Generator) -> Samples:
    """One of them, its peak near 0.5."""
    kinds: list[Callable[[np.random.Generator], Samples]] = [cough, cough, knock, keys, hum]
    sound = kinds[int(random.integers(len(kinds)))](random)
    return np.asarray(0.5 * sound / np.abs(sound).max(), dtype=np.float32)


def cough(random: np.random.Generator) -> Samples:
    """One to three bursts of coloured noise that begin hard and die away."""
    parts = []
    for _ in range(int(random.integers(1, 4))):
        length = int(random.uniform(*COUGH_S) * SAMPLE_RATE)
        burst = _resonant(random, length, random.uniform(500, 1_600))
        t = np.arange(length) / length
        parts += [burst * np.minimum(1, t * 25) * np.exp(-4 * t), np.zeros(int(0.07 * SAMPLE_RATE))]
    return np.asarray(np.concatenate(parts), dtype=np.float32)


def knock(random: np.random.Generator) -> Samples:
    """A few dull, decaying tones."""
    parts = []
    for _ in range(int(random.integers(1, 4))):
        t = np.arange(int(0.18 * SAMPLE_RATE)) / SAMPLE_RATE
        parts.append(np.sin(2 * np.pi * random.uniform(*KNOCK_HZ) * t) * np.exp(-t * 45))
    return np.asarray(np.concatenate(parts), dtype=np.float32)


def keys(random: np.random.Generator) -> Samples:
    """Clicks of a keyboard."""
    sound = np.zeros(int(random.uniform(0.4, 1.5) * SAMPLE_RATE), np.float32)
    for start in random.integers(0, len(sound) - 1_000, size=int(random.integers(3, 12))):
        click = random.standard_normal(700) * np.exp(-np.arange(700) / 90)
        sound[start : start + 700] += click * random.uniform(0.3, 1)
    return sound


def hum(random: np.random.Generator) -> Samples:
    """A passing tone with harmonics, as of an engine."""
    t = np.arange(int(random.uniform(0.5, 2.5) * SAMPLE_RATE)) / SAMPLE_RATE
    pitch = random.uniform(*HUM_HZ)
    tones = sum(np.sin(2 * np.pi * pitch * n * t + random.uniform(0, 6)) / n for n in range(1, 6))
    return np.asarray(tones * np.hanning(len(t)) + 1e-6, dtype=np.float32)


def _resonant(random: np.random.Generator, length: int, middle_hz: float) -> Samples:
    """Noise with a broad hill around a frequency."""
    spectrum = np.fft.rfft(random.standard_normal(length))
    hz = np.arange(len(spectrum)) * SAMPLE_RATE / length
    spectrum *= np.exp(-np.square(np.log(np.maximum(hz, 1) / middle_hz))) + 0.05
    return np.asarray(np.fft.irfft(spectrum, length), dtype=np.float32)
