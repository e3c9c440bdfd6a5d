"""The draw: its distribution, its limits, and that it depends on its key alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from model.sampler import BatchSampler, Noise, noise_keys, pick_tokens, seed_keys


def gumbel_noise(seed: Tensor, frame: Tensor, codebooks: Tensor, card: int) -> Tensor:
    """The noise of these codebooks: [B, K, card]."""
    keys = noise_keys(seed_keys(seed.numpy()), frame.numpy(), int(codebooks.max()) + 1)
    return Noise(card, torch.device("cpu"))(torch.from_numpy(keys.view(np.int32)))[:, codebooks]


def noise(seed: int, frame: int, codebook: int, card: int = 2048) -> Tensor:
    return gumbel_noise(torch.tensor([seed]), torch.tensor([frame]), torch.tensor([codebook]), card)[0, 0]


def correlation(a: Tensor, b: Tensor) -> float:
    return float(torch.corrcoef(torch.stack([a, b]))[0, 1])


def test_the_noise_has_the_gumbel_mean_and_variance() -> None:
    frames = torch.arange(500)
    drawn = gumbel_noise(torch.full((500,), 7), frames, torch.arange(3), 1000)
    assert float(drawn.mean()) == pytest.approx(0.57722, abs=0.005)  # Euler's constant
    assert float(drawn.var()) == pytest.approx(math.pi**2 / 6, abs=0.015)


@pytest.mark.parametrize(("frame", "codebook", "token"), [(561, 1, 1463), (1588, 6, 633), (1607, 2, 2035)])
def test_the_largest_noise_is_finite_and_moves_no_greedy_row(frame: int, codebook: int, token: int) -> None:
    drawn = noise(0, frame, codebook)
    assert bool(drawn.isfinite().all())
    assert float(drawn[token]) == pytest.approx(-math.log(2.0**-24), abs=0.01)  # -log(-log(1 - 2^-24))
    logits = torch.zeros(1, 2048)
    logits[0, 7] = 1.0
    picked = pick_tokens(logits, drawn[None], torch.zeros(1), torch.zeros(1, dtype=torch.int64))
    assert picked.tolist() == [7]


def test_every_part_of_the_key_changes_the_noise() -> None:
    base = noise(seed=5, frame=9, codebook=2)
    others = [noise(6, 9, 2), noise(5, 10, 2), noise(5, 9, 3), noise(5 + 2**40, 9, 2), noise(9, 5, 2)]
    for other in others:
        assert abs(correlation(base, other)) < 0.08  # 3.6 standard errors of 2048 pairs


def test_neighbouring_seeds_and_frames_do_not_share_shifted_noise() -> None:
    base = noise(5, 9, 2)
    for other in (noise(6, 9, 2), noise(5, 10, 2), noise(5, 9, 3)):
        for shift in (1, 2, 3):
            assert abs(correlation(base[shift:], other[:-shift])) < 0.08


def test_equal_keys_give_equal_noise_in_any_batch() -> None:
    alone = noise(2**62 + 11, 77, 3)
    seeds, frames = torch.tensor([1, 2**62 + 11, 3]), torch.tensor([0, 77, 5])
    crowd = gumbel_noise(seeds, frames, torch.tensor([3, 4]), 2048)
    assert torch.equal(crowd[1, 0], alone)


def test_the_noise_of_a_seed_never_changes_between_versions() -> None:
    """A seed that somebody wrote down must go on giving the same call."""
    expected = torch.tensor([-1.133451, -0.258762, -1.688538, -0.227322])
    assert torch.allclose(noise(20261129, 3, 1, card=4), expected, atol=1e-5)


def test_draws_follow_the_softmax_of_the_scaled_logits() -> None:
    logits, temperature, n = torch.tensor([2.0, 1.0, 0.0, -1.0]), 0.7, 40_000
    drawn = pick_tokens(
        logits.expand(n, -1),
        gumbel_noise(torch.full((n,), 3), torch.arange(n), torch.tensor([0]), 4)[:, 0],
        torch.full((n,), temperature),
        torch.zeros(n, dtype=torch.int64),
    )
    found = torch.bincount(drawn, minlength=4) / n
    wanted = torch.softmax(logits / temperature, dim=0)
    assert torch.allclose(found, wanted, atol=0.01)  # 4 standard errors of the likeliest


@pytest.mark.parametrize(("temperature", "top_k"), [(0.0, 0), (0.0, 5), (3.0, 1)])
def test_temperature_zero_and_top_k_one_are_greedy(temperature: float, top_k: int) -> None:
    logits = torch.randn(64, 100, generator=torch.Generator().manual_seed(1))
    drawn = pick_tokens(
        logits,
        gumbel_noise(torch.arange(64), torch.zeros(64, dtype=torch.int64), torch.tensor([0]), 100)[:, 0],
        torch.full((64,), temperature),
        torch.full((64,), top_k),
    )
    assert torch.equal(drawn, logits.argmax(dim=-1))


def test_top_k_draws_only_among_the_k_likeliest_and_among_all_of_them() -> None:
    n = 2000
    logits = torch.tensor([0.0, 0.3, 0.1, 0.2, 5.0]).flip(0).expand(n, -1)  # 4 likeliest: 0, 1, 2, 3
    drawn = pick_tokens(
        logits,
        gumbel_noise(torch.arange(n), torch.zeros(n, dtype=torch.int64), torch.tensor([0]), 5)[:, 0],
        torch.full((n,), 5.0),
        torch.full((n,), 4),
    )
    assert set(drawn.tolist()) == {0, 1, 2, 3}


def test_each_row_draws_with_its_own_settings() -> None:
    logits = torch.tensor([[0.0, 1.0, 0.9]]).expand(3, -1)
    noise = torch.tensor([[0.0, 0.0, 0.2]]).expand(3, -1)
    drawn = pick_tokens(logits, noise, torch.tensor([0.0, 1.0, 1.0]), torch.tensor([0, 0, 1]))
    assert drawn.tolist() == [1, 2, 1]


def test_a_row_that_is_set_anew_starts_at_frame_zero_and_others_go_on() -> None:
    sampler = BatchSampler(2, cards=(50, 50), dep_q=1, device=torch.device("cpu"))
    for row in (0, 1):
        sampler.set_row(row, seed=4, temperatures=(1.0, 1.0), top_ks=(0, 0))
    sampler.begin()
    first = sampler.audio_noise()[:, 0].clone()
    assert torch.equal(first[0], first[1])
    sampler.advance(np.array([0, 1]))
    sampler.set_row(0, seed=4, temperatures=(1.0, 1.0), top_ks=(0, 0))
    sampler.begin()
    later = sampler.audio_noise()[:, 0]
    assert torch.equal(later[0], first[0])
    assert not torch.equal(later[1], first[1])


def test_a_row_that_was_not_stepped_keeps_its_frame() -> None:
    sampler = BatchSampler(2, cards=(50, 50), dep_q=1, device=torch.device("cpu"))
    for row in (0, 1):
        sampler.set_row(row, seed=4, temperatures=(1.0, 1.0), top_ks=(0, 0))
    sampler.begin()
    before = sampler.audio_noise().clone()
    sampler.advance(np.array([0]))
    sampler.begin()
    assert torch.equal(sampler.audio_noise()[1], before[1])
