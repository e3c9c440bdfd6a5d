"""One step's draws: every row's seed, frame, temperature and top-k as tensors, no generator's state.

The same numbers as `model.sampler.BatchSampler`, for the stepped rows only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from model.compact.feed import Feed, Host, Ints, Shape
from model.compact.recording import Recorded, now
from model.config import Sampling
from model.sampler import Noise, Threshold, draw_ranked, noise_keys, seed_keys

TEXT, AUDIO = 0, 1


class Sessions:
    """What every slot asked to be drawn with; text and audio side by side.

    cards: of text and audio. few_shapes: leave it to the draw, which suits any rows, how the vocabulary is
    put in order.
    """

    def __init__(self, slots: int, cards: tuple[int, int], *, few_shapes: bool) -> None:
        self._cards = cards
        self._few_shapes = few_shapes
        self._seed = seed_keys(np.zeros(slots, np.int64))
        self._wanted = np.ones((2, slots), np.int64)
        self._temperature = np.zeros((2, slots), np.float32)
        self.orders: tuple[Order, Order] = (Order(), Order())
        """Of text and audio, for the rows that `fill` was last called with."""

    def set(self, slot: int, sampling: Sampling) -> None:
        self._seed[slot] = seed_keys(np.array([sampling.seed]))[0]
        top_k = sampling.text_top_k, sampling.audio_top_k
        self._wanted[:, slot] = [_candidates(*asked) for asked in zip(top_k, self._cards, strict=True)]
        self._temperature[:, slot] = sampling.text_temperature, sampling.audio_temperature

    @staticmethod
    def integers(n: int, books: int) -> dict[str, Shape]:
        """books: text and audio."""
        return {"keys": (n, books), "place": (2, n)}

    @staticmethod
    def floats(n: int) -> dict[str, Shape]:
        return {"temperature": (2, n)}

    def fill(self, host: Host, rows: Ints, frames: Ints) -> None:
        """Writes the rows' numbers, and `orders`."""
        wanted, temperature = self._wanted[:, rows], self._temperature[:, rows]
        host["temperature"][:] = temperature
        if self._few_shapes:
            np.subtract(wanted, 1, out=host["place"])
            if not temperature.any():
                return
        else:
            asked = zip(wanted.tolist(), temperature.tolist(), self._cards, strict=True)
            text, audio = (_order(*kind) for kind in asked)
            host["place"][:] = text[1], audio[1]
            self.orders = text[0], audio[0]
            if text[0].greedy and audio[0].greedy:
                return
        host["keys"][:] = noise_keys(self._seed[rows], frames, host["keys"].shape[1])


@dataclass(frozen=True, slots=True)
class Order:
    """How many tokens a draw must put in order: of the likeliest, or of the others. 0: all of them.

    greedy: none, since every row takes its likeliest.
    """

    count: int = 0
    likeliest: bool = True
    greedy: bool = False


def _candidates(top_k: int, card: int) -> int:
    return top_k if 0 < top_k <= card else card


def _order(wanted: list[int], temperature: list[float], card: int) -> tuple[Order, list[int]]:
    """The cheaper order for these rows, and which place in it is each row's last candidate.

    A greedy row may take any place: its likeliest token is above every one of them. Plain lists: for
    few rows each operation of numpy takes longer than all of this.
    """
    drawn = [count for count, heat in zip(wanted, temperature, strict=True) if heat]
    if not drawn:
        return Order(greedy=True), [0] * len(wanted)
    most, least = max(drawn), min(drawn)
    counts = [count if heat else most for count, heat in zip(wanted, temperature, strict=True)]
    if card - least + 1 < most:
        return Order(card - least + 1, likeliest=False), [card - count for count in counts]
    return Order(most), [count - 1 for count in counts]


class Pick(Protocol):
    """What the language model asks of a draw."""

    def pick(self, logits: Tensor, book: int, token: Tensor) -> None:
        """logits [n, card] of one of the kind's books; writes into token, int64 [n]."""


class Draw:
    """The draws of one step: text, or audio. Decided anew at every run, since sessions come and go.

    feed: with what `Sessions.fill` wrote. kind: TEXT or AUDIO.
    """

    def __init__(self, feed: Feed, sessions: Sessions, kind: int, noise: Noise) -> None:
        self._feed, self._sessions, self._kind, self._noise = feed, sessions, kind, noise
        self._make = self._make_noise if feed.live is now else Recorded(self._make_noise)
        self._scaled: tuple[Tensor, ...] = ()
        self._threshold: Threshold | None = None
        feed.live(self._prepare)

    def pick(self, logits: Tensor, book: int, token: Tensor) -> None:
        """See `Pick`."""
        self._feed.live(partial(self._pick, book), logits, token)

    def _prepare(self) -> None:
        """What every book's draw needs; nothing where all rows take their likeliest."""
        order = self._sessions.orders[self._kind]
        if order.greedy:
            self._threshold = None
            return
        self._scaled = self._make().unbind(1)
        place = self._feed.device["place"][self._kind][:, None]
        self._threshold = Threshold(place, order.count, order.likeliest)

    def _make_noise(self) -> Tensor:
        """Of every book at once, times the temperature: float32 [n, books, card]."""
        feed = self._feed.device
        keys = feed["keys"][:, :1] if self._kind == TEXT else feed["keys"][:, 1:]
        noise = self._noise(keys.to(torch.int32))
        return noise.mul_(feed["temperature"][self._kind][:, None, None])

    def _pick(self, book: int, logits: Tensor, token: Tensor) -> None:
        if self._threshold is None:
            torch.argmax(logits, dim=-1, out=token)
        else:
            token.copy_(draw_ranked(logits.float(), self._scaled[book], self._threshold))
