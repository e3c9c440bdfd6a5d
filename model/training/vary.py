"""One utterance in many rooms and lines: gain, room, band limit and noise. Pure, seeded numpy.

What the codec hears of users and what the language model will hear of them: never twice the same.
"""

from __future__ import annotations

import numpy as np

from audio.frames import SAMPLE_RATE, Samples

GAIN_DB = (-12.0, 5.0)
NOISE_DB = (-90.0, -44.0)
ROOM_CHANCE = 0.3
BAND_CHANCE = 0.2
ROOM_S = 0.25
BAND_EDGE_HZ = (3_000.0, 7_000.0)
SPEED = (0.88, 1.14)


def voice_of_a_user(random: np.random.Generator, samples: Samples) -> Samples:
    """The same words, perhaps in a room, perhaps over a narrow line, louder or softer."""
    if random.random() < ROOM_CHANCE:
        samples = in_a_room(random, samples)
    if random.random() < BAND_CHANCE:
        samples = band_limited(samples, random.uniform(*BAND_EDGE_HZ))
    return np.asarray(samples * decibels(random.uniform(*GAIN_DB)), dtype=np.float32)


def noise(random: np.random.Generator, length: int) -> Samples:
    """White, or darker, at a random level."""
    white = random.standard_normal(length, dtype=np.float32)
    if random.random() < 0.5:
        white = np.convolve(white, np.full(6, 1 / 6, np.float32), "same")
    return np.asarray(white * decibels(random.uniform(*NOISE_DB)), dtype=np.float32)


def another_speaker(random: np.random.Generator, samples: Samples) -> Samples:
    """Higher and faster, or deeper and slower, as if played at another speed: another throat."""
    return at_speed(samples, random.uniform(*SPEED))


def at_speed(samples: Samples, speed: float) -> Samples:
    """Played `speed` times as fast, by straight lines between samples."""
    at = np.arange(int(len(samples) / speed)) * speed
    return np.asarray(np.interp(at, np.arange(len(samples)), samples), dtype=np.float32)


def in_a_room(random: np.random.Generator, samples: Samples) -> Samples:
    """Convolved with a decaying noise after a direct sound; as long as it was."""
    length = int(ROOM_S * SAMPLE_RATE)
    decay_s = random.uniform(0.02, 0.08)
    tail = random.standard_normal(length) * np.exp(-np.arange(length) / (decay_s * SAMPLE_RATE))
    tail *= random.uniform(0.1, 0.5) / np.sqrt((tail**2).sum())
    tail[0] = 1.0
    size = 1 << (len(samples) + length).bit_length()
    wet = np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(tail, size), size)
    return wet[: len(samples)].astype(np.float32)


def band_limited(samples: Samples, edge_hz: float) -> Samples:
    """Without what lies above the edge, as over a telephone."""
    size = 1 << len(samples).bit_length()
    spectrum = np.fft.rfft(samples, size)
    hz = np.arange(len(spectrum)) * SAMPLE_RATE / size
    kept = 1 / (1 + (hz / edge_hz) ** 16)
    return np.fft.irfft(spectrum * kept, size)[: len(samples)].astype(np.float32)


def decibels(level_db: float) -> float:
    """As a factor of amplitude."""
    return float(10 ** (level_db / 20))
