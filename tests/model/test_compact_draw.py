"""Whatever is put in order to save work, a row draws what it would draw alone from a whole vocabulary."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model.compact.draw import AUDIO, Draw, Order, Sessions
from model.compact.feed import Feed
from model.config import Sampling
from model.sampler import Noise, noise_keys, pick_tokens, seed_keys

CARD = 64
NOISE = Noise(CARD, torch.device("cpu"))


def drawn(samplings: list[Sampling], few_shapes: bool = False) -> tuple[list[int], Order]:
    """The audio tokens of rows with these samplings, at frame 7, and how they were ordered."""
    rows = np.arange(len(samplings))
    sessions = Sessions(len(samplings), (CARD, CARD), few_shapes=few_shapes)
    for row, sampling in enumerate(samplings):
        sessions.set(row, sampling)
    feed = Feed(Sessions.integers(len(rows), 2), Sessions.floats(len(rows)), torch.device("cpu"))
    sessions.fill(feed.host, rows, np.full(len(rows), 7))
    logits = torch.randn(len(rows), CARD, generator=torch.Generator().manual_seed(3))
    token = torch.empty(len(rows), dtype=torch.int64)
    Draw(feed, sessions, AUDIO, NOISE).pick(logits, 0, token)
    return token.tolist(), sessions.orders[1]


def expected(samplings: list[Sampling]) -> list[int]:
    """By the plain definition."""
    logits = torch.randn(len(samplings), CARD, generator=torch.Generator().manual_seed(3))
    seeds = seed_keys(np.array([s.seed for s in samplings]))
    keys = noise_keys(seeds, np.full(len(samplings), 7), 2)
    noise = NOISE(torch.from_numpy(keys.view(np.int32))[:, 1:])[:, 0]
    temperature = torch.tensor([s.audio_temperature for s in samplings])
    return pick_tokens(logits, noise, temperature, torch.tensor([s.audio_top_k for s in samplings])).tolist()


def audio(top_k: int, temperature: float = 2.0, seed: int = 0) -> Sampling:
    return Sampling(audio_top_k=top_k, audio_temperature=temperature, seed=seed)


@pytest.mark.parametrize(
    ("samplings", "order"),
    [
        ([audio(5, 0.0), audio(0, 0.0)], Order(greedy=True)),
        ([audio(5), audio(3, seed=1), audio(0, 0.0)], Order(5)),
        ([audio(60), audio(58, seed=1), audio(1, 0.0)], Order(7, likeliest=False)),
        ([audio(0), audio(0, seed=1), audio(9, 0.0)], Order(1, likeliest=False)),
        ([audio(1), audio(0, seed=1), audio(999, seed=2)], Order(64)),
    ],
)
def test_the_cheapest_order_draws_the_same_tokens(samplings: list[Sampling], order: Order) -> None:
    assert drawn(samplings) == (expected(samplings), order)


def test_a_few_shapes_for_all_draw_the_same_tokens() -> None:
    samplings = [audio(5, 0.0), audio(3, seed=1), audio(0, seed=2), audio(60, seed=3)]
    assert drawn(samplings, few_shapes=True) == (expected(samplings), Order())
