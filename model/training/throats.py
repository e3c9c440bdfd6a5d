"""An utterance as if somebody else had said it: other formants, breath; pitch and words stay.

The smooth envelope of each short spectrum is bent along a random map of frequency (as in vocal tract length
perturbation, Jaitly and Hinton 2013, but each formant has a factor of its own), and high partials may lose
their phase. Seeded numpy; refuses to know voices and rooms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audio.frames import SAMPLE_RATE, Samples

SIZE = 512
HOP = 128
LIFTER = 36
"""Quefrencies kept of the envelope, 1.5 ms: below the period of any voice."""
NODES_HZ = (0.0, 700.0, 1_600.0, 2_800.0, 4_500.0, 12_000.0)
LENGTH = 0.08
"""Standard deviation of the throat's length, as a factor."""
SHAPE = 0.05
"""And of each node's own factor on top."""
MOST_LOUDER = 2.0
"""Nepers that bending may add or take."""
BREATH_CHANCE = 0.35
BREATH = (0.2, 0.8)
BREATH_HZ = (1_200.0, 4_000.0)

_WINDOW = np.sqrt(np.hanning(SIZE + 1)[:SIZE]).astype(np.float32)
_HZ = np.arange(SIZE // 2 + 1) * (SAMPLE_RATE / SIZE)
_FLOOR = 1e-5


@dataclass(frozen=True, slots=True)
class Throat:
    """come_from_hz: for each bin of the spectrum, where its envelope is taken from.

    breath: how much of the phase is random from `breath_hz` on, 0 to 1.
    """

    come_from_hz: npt.NDArray[np.float64]
    breath: float
    breath_hz: float

    @staticmethod
    def draw(random: np.random.Generator) -> Throat:
        length = np.exp(random.normal(0, LENGTH))
        nodes = np.array(NODES_HZ) * length * np.exp(random.normal(0, SHAPE, len(NODES_HZ)))
        nodes = np.maximum.accumulate(nodes)
        nodes[-1] = max(nodes[-1], NODES_HZ[-1])
        breath = random.uniform(*BREATH) if random.random() < BREATH_CHANCE else 0.0
        return Throat(np.interp(_HZ, NODES_HZ, nodes), breath, random.uniform(*BREATH_HZ))


def said_by(throat: Throat, random: np.random.Generator, samples: Samples) -> Samples:
    """As long and nearly as loud as it was."""
    padded = np.pad(samples, (SIZE, SIZE + -len(samples) % HOP))
    frames = np.lib.stride_tricks.sliding_window_view(padded, SIZE)[::HOP] * _WINDOW
    spectra = np.fft.rfft(frames, axis=1)
    envelope = _envelope(spectra)
    spectra *= np.exp(np.clip(_bent(envelope, throat) - envelope, -MOST_LOUDER, MOST_LOUDER))
    if throat.breath:
        above = throat.breath_hz <= _HZ
        turns = random.uniform(-np.pi, np.pi, (len(spectra), int(above.sum()))) * throat.breath
        spectra[:, above] *= np.exp(1j * turns)
    return _joined(np.fft.irfft(spectra, axis=1).astype(np.float32) * _WINDOW, len(samples))


def _envelope(spectra: npt.NDArray[np.complex128]) -> npt.NDArray[np.float64]:
    """Log magnitude without its fine structure, [frames, bins]."""
    cepstra = np.fft.irfft(np.log(np.abs(spectra) + _FLOOR), axis=1)
    cepstra[:, LIFTER : SIZE - LIFTER + 1] = 0
    return np.asarray(np.fft.rfft(cepstra, axis=1).real)


def _bent(envelope: npt.NDArray[np.float64], throat: Throat) -> npt.NDArray[np.float64]:
    at = np.clip(throat.come_from_hz / _HZ[1], 0, len(_HZ) - 1)
    low = np.minimum(at.astype(np.int64), len(_HZ) - 2)
    share = at - low
    return np.asarray(envelope[:, low] * (1 - share) + envelope[:, low + 1] * share)


def _joined(frames: npt.NDArray[np.float32], length: int) -> Samples:
    """Overlap and add; the squared windows sum to SIZE / HOP / 2."""
    steps = SIZE // HOP
    whole = np.zeros((len(frames) + steps - 1, HOP), np.float32)
    for step in range(steps):
        whole[step : step + len(frames)] += frames[:, step * HOP : (step + 1) * HOP]
    return whole.reshape(-1)[SIZE : SIZE + length] / np.float32(steps / 2)
