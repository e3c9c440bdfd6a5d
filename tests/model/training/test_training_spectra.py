"""Distances between sounds, with values that can be worked out beforehand."""

from __future__ import annotations

import torch

from model.training import spectra


def hiss(seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    return torch.randn(1, 9600)


def test_a_sound_is_no_distance_from_itself() -> None:
    gap = spectra.distance(hiss(0), hiss(0))
    assert (gap.spectral.item(), gap.mel.item(), gap.waveform.item()) == (0.0, 0.0, 0.0)


def test_half_as_loud_is_a_mel_distance_of_three_tenths() -> None:
    gap = spectra.distance(hiss(0) / 2, hiss(0))  # log10(2) = 0.301 in every band
    assert abs(gap.mel.item() - 0.301) < 0.002
    assert abs(gap.waveform.item() - 0.5) < 1e-4


def test_mel_bands_cover_their_range_without_holes() -> None:
    bands = spectra.mel_bands(2048, 80)
    hz = torch.linspace(0, 12_000, 1025)
    inside = (hz > 300) & (hz < 10_500)
    assert bands.shape == (80, 1025)
    assert (bands.sum(dim=0)[inside] > 0.5).all()
    assert bands[:, hz > 11_100].sum() == 0


def test_log_mels_have_as_many_steps_as_the_latent() -> None:
    mels = spectra.log_mels(torch.zeros(2, 1920 * 3), 25)
    assert mels.shape == (2, 320, 6)
    assert torch.allclose(mels, torch.full_like(mels, -2.8), atol=0.5)  # silence lies at its floor
