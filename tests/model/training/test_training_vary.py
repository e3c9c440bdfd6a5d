"""Rooms, lines and levels: what they change and what they leave."""

from __future__ import annotations

import numpy as np

from audio.frames import SAMPLE_RATE, Samples
from model.training import vary


def tone(hz: float) -> Samples:
    phase = np.arange(SAMPLE_RATE) * (2 * np.pi * hz / SAMPLE_RATE)
    return np.asarray(np.sin(phase), dtype=np.float32)


def power(samples: Samples) -> float:
    return float((samples[2000:-2000] ** 2).mean())


def test_a_narrow_line_passes_low_tones_and_stops_high_ones() -> None:
    assert abs(power(vary.band_limited(tone(1000), 3000)) - 0.5) < 0.005
    assert power(vary.band_limited(tone(6000), 3000)) < 1e-3


def test_a_room_adds_an_echo_and_keeps_time() -> None:
    click = np.zeros(12_000, np.float32)
    click[3000] = 1.0
    wet = vary.in_a_room(np.random.default_rng(0), click)
    assert len(wet) == len(click)
    assert int(np.abs(wet).argmax()) == 3000
    assert np.abs(wet[:2999]).max() < 1e-6
    assert (wet[3001:] ** 2).sum() > 0.005


def test_another_speaker_is_as_much_higher_as_shorter() -> None:
    heard = vary.another_speaker(np.random.default_rng(1), tone(1000))
    hz = int(np.abs(np.fft.rfft(heard, SAMPLE_RATE)).argmax())
    assert vary.SPEED[0] <= SAMPLE_RATE / len(heard) <= vary.SPEED[1]
    assert abs(hz / 1000 - SAMPLE_RATE / len(heard)) < 0.005


def test_minus_twenty_decibels_are_a_tenth() -> None:
    assert abs(vary.decibels(-20) - 0.1) < 1e-12


def test_noise_is_the_same_for_the_same_seed_and_within_its_levels() -> None:
    first, again = (vary.noise(np.random.default_rng(3), 24_000) for _ in range(2))
    assert np.array_equal(first, again)
    assert 1e-5 < float(np.sqrt((first**2).mean())) < 10 ** (vary.NOISE_DB[1] / 20) * 1.1
