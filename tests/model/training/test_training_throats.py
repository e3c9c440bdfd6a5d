"""Another throat: what changes of a voice and what does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from audio.frames import SAMPLE_RATE, Samples
from model.training.throats import NODES_HZ, Throat, said_by

PITCH_HZ, FORMANT_HZ, WIDTH_HZ = 120.0, 1_500.0, 450.0
SAME = Throat.draw(np.random.default_rng(0))
BINS_HZ = np.linspace(0, 12_000, len(SAME.come_from_hz), dtype=np.float64)


def throat(factor: float, breath: float = 0.0) -> Throat:
    return replace(
        SAME, come_from_hz=np.asarray(BINS_HZ * factor, np.float64), breath=breath, breath_hz=1_000.0
    )


def vowel() -> Samples:
    """One second of harmonics of PITCH_HZ under one formant."""
    at = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    partials = np.arange(1, 60) * PITCH_HZ
    levels = np.exp(-(((partials - FORMANT_HZ) / WIDTH_HZ) ** 2)) + 0.003
    voiced: Samples = (levels[:, None] * np.sin(2 * np.pi * partials[:, None] * at)).sum(axis=0)
    return np.asarray(0.1 * voiced, np.float32)


def spectrum(samples: Samples) -> npt.NDArray[np.float64]:
    """A bin for each hertz."""
    magnitudes: npt.NDArray[np.float64] = np.abs(np.fft.rfft(samples[:SAMPLE_RATE]))
    return magnitudes


def test_a_throat_of_the_same_shape_changes_no_sample() -> None:
    assert said_by(throat(1.0), np.random.default_rng(1), vowel()) == pytest.approx(vowel(), abs=1e-4)


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_the_formant_moves_by_the_throats_factor_and_every_partial_stays(factor: float) -> None:
    found = spectrum(said_by(throat(1 / factor), np.random.default_rng(1), vowel()))
    strongest = int(found[: SAMPLE_RATE // 4].argmax())
    assert abs(strongest - FORMANT_HZ * factor) <= PITCH_HZ
    assert strongest % PITCH_HZ in (0, 1, PITCH_HZ - 1)


def test_breath_takes_the_high_partials_line_and_leaves_the_low_ones() -> None:
    plain, breathy = spectrum(vowel()), spectrum(said_by(throat(1.0, 1.0), np.random.default_rng(1), vowel()))
    low, high = int(PITCH_HZ * 4), int(PITCH_HZ * 13)
    assert breathy[low] == pytest.approx(plain[low], rel=0.1)
    assert breathy[high] < 0.6 * plain[high]


def test_drawn_throats_never_turn_frequencies_round() -> None:
    for seed in range(200):
        drawn = Throat.draw(np.random.default_rng(seed))
        assert (np.diff(drawn.come_from_hz) >= 0).all()
        assert 0.5 < drawn.come_from_hz[64] / BINS_HZ[64] < 2.0
    assert NODES_HZ[-1] == SAMPLE_RATE / 2
