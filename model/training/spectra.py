"""Log-mel spectra and the distances between two sounds that the codec is trained on. Pure torch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional

from audio.frames import SAMPLE_RATE

SCALES = ((256, 20), (512, 40), (1024, 80), (2048, 120))
"""FFT sizes and mel bands; hops are a quarter."""
LOWEST_HZ, HIGHEST_HZ = 30.0, 11_000.0
FLOOR_MEL = 1e-3
FLOOR_BIN = 3e-3

AUX_BANDS = 80
AUX_RATE = 100
AUX_WINDOW = 720
AUX_FFT = 1024


@dataclass(frozen=True, slots=True)
class Distance:
    """spectral: what is minimised. mel: mean |log10| of the mel bands, 0.3 is 6 dB. waveform: L1."""

    spectral: Tensor
    mel: Tensor
    waveform: Tensor


def mel_bands(fft: int, bands: int) -> Tensor:
    """[bands, fft // 2 + 1] triangles, equally wide on the mel scale (2595 log10(1 + f / 700))."""
    top, bottom = (2595 * math.log10(1 + hz / 700) for hz in (HIGHEST_HZ, LOWEST_HZ))
    edges = 700 * (10 ** (torch.linspace(bottom, top, bands + 2, dtype=torch.float64) / 2595) - 1)
    bins = torch.linspace(0, SAMPLE_RATE / 2, fft // 2 + 1, dtype=torch.float64)
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return torch.minimum(rising, falling).clamp(min=0).float()


@cache
def _bands(fft: int, bands: int, device: torch.device) -> tuple[Tensor, Tensor]:
    return mel_bands(fft, bands).to(device), torch.hann_window(fft, device=device)


def distance(made: Tensor, wanted: Tensor) -> Distance:
    """Between two [batch, samples], each part a mean over the scales."""
    spectral, mel = made.new_zeros(()), made.new_zeros(())
    for fft, count in SCALES:
        bands, window = _bands(fft, count, made.device)
        a, b = _magnitude(made, fft, window), _magnitude(wanted, fft, window)
        band_gap = _log_gap(bands @ a, bands @ b, FLOOR_MEL)
        mel = mel + band_gap
        spectral = spectral + 2 * band_gap + 0.5 * _log_gap(a, b, FLOOR_BIN)
        spectral = spectral + 0.3 * (a - b).abs().mean() / b.mean()
    level = wanted.abs().mean().clamp(min=1e-3)
    return Distance(spectral / len(SCALES), mel / len(SCALES), (made - wanted).abs().mean() / level)


def _log_gap(a: Tensor, b: Tensor, floor: float) -> Tensor:
    return (torch.log10(a + floor) - torch.log10(b + floor)).abs().mean()


def _magnitude(x: Tensor, fft: int, window: Tensor) -> Tensor:
    z = torch.stft(x, fft, fft // 4, window=window, return_complex=True)
    return (z.real**2 + z.imag**2 + 1e-8).sqrt() * (4 / math.sqrt(fft))


@cache
def _aux(device: torch.device) -> tuple[Tensor, Tensor]:
    return mel_bands(AUX_FFT, AUX_BANDS).to(device), torch.hann_window(AUX_WINDOW, device=device)


def log_mels(x: Tensor, rate: int) -> Tensor:
    """[batch, samples] -> [batch, (AUX_RATE / rate) * AUX_BANDS, steps], `rate` steps a second.

    What the auxiliary head must tell of each latent step before any of it becomes sound.
    """
    hop = SAMPLE_RATE // AUX_RATE
    bands, window = _aux(x.device)
    margin = (AUX_FFT - hop) // 2
    padded = functional.pad(x, (margin, margin))
    z = torch.stft(
        padded, AUX_FFT, hop, win_length=AUX_WINDOW, window=window, center=False, return_complex=True
    )
    size = (z.real**2 + z.imag**2 + 1e-8).sqrt() * (4 / math.sqrt(AUX_WINDOW))
    mels = torch.log10(bands @ size + FLOOR_MEL).transpose(1, 2)
    together = AUX_RATE // rate
    steps = mels.shape[1] // together
    return mels[:, : steps * together].reshape(len(x), steps, together * AUX_BANDS).transpose(1, 2)
