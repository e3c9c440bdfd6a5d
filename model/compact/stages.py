"""A step's three stages: hear (sound to the user's tokens), think (the language model), speak.

Each fills its feed on the host, then runs on the device with nothing but the feed and its memory, so
that the running half can be captured as a CUDA graph. Refuses to know how a stage is launched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import torch
from moshi.models import LMModel
from torch import Tensor

from audio.frames import FRAME_SAMPLES
from model.compact.codec import Decoder, Encoder
from model.compact.delays import DelayedBooks
from model.compact.draw import AUDIO, TEXT, Draw, Sessions
from model.compact.feed import Feed, Ints, Shape
from model.compact.fused import LanguageKernel, fuses
from model.compact.kv import KVStore
from model.compact.language import Language
from model.compact.quantizer import Quantizer


class Stage(Protocol):
    """One third of a step. Its `fill` returns how many places of the past the run looks at."""

    name: str

    def shapes(self, n: int) -> tuple[Mapping[str, Shape], Mapping[str, Shape]]:
        """The feed's integers and floats for n rows."""

    def run(self, feed: Feed, span: int) -> tuple[Tensor, ...]:
        """The device's half. Everything it reads and writes stays where it is, and what it does depends
        on nothing but the number of rows and the span; what must, it hands to `feed.live`."""


class Tokens:
    """The tokens of every slot still to be read, flat as `delays` addresses them."""

    def __init__(self, lm: LMModel, books: DelayedBooks, device: torch.device) -> None:
        self.books = books
        self.memory = torch.zeros(books.memory_size, dtype=torch.int64, device=device)
        self.memory[-lm.num_codebooks :] = lm._get_initial_token()[0, :, 0]

    def read(self, addresses: Tensor) -> Tensor:
        return self.memory.index_select(0, addresses.flatten()).view_as(addresses)

    def write(self, addresses: Tensor, tokens: Tensor) -> None:
        self.memory.index_copy_(0, addresses.flatten(), tokens.flatten())


class Hearing:
    """Encodes the user's frames into the tokens' memory."""

    name = "hear"

    def __init__(self, encoder: Encoder, quantizer: Quantizer, tokens: Tokens) -> None:
        self._encoder, self._quantizer, self._tokens = encoder, quantizer, tokens

    def shapes(self, n: int) -> tuple[Mapping[str, Shape], Mapping[str, Shape]]:
        return self._encoder.shapes(n) | self._tokens.books.shapes_heard(n), {"sound": (n, FRAME_SAMPLES)}

    def fill(self, feed: Feed, rows: Ints, frames: Ints, sound: Any) -> int:
        """frames: int64 [n], above 0: a session's first frame is not heard. sound: [n, 1920]."""
        self._encoder.fill(feed.host, rows, frames - 1)
        self._tokens.books.fill_heard(feed.host, rows, frames)
        feed.host["sound"][:] = sound
        return self._encoder.stack.past.span(feed.host)

    def run(self, feed: Feed, span: int) -> tuple[Tensor, ...]:
        latent = self._encoder.latent(feed.device["sound"], feed, span)
        self._quantizer.hear(latent, self._tokens.memory, feed.device["heard"])
        return ()


class Thinking:
    """The language model's step: from the tokens' memory into it, and each row's answer."""

    name = "think"

    def __init__(
        self, language: Language, past: KVStore, tokens: Tokens, sessions: Sessions, condition: Tensor | None
    ) -> None:
        self._language, self._past, self._tokens = language, past, tokens
        self._sessions, self._condition = sessions, condition
        self._kernel = LanguageKernel(language, past.ring) if fuses(language, past) else None

    def shapes(self, n: int) -> tuple[Mapping[str, Shape], Mapping[str, Shape]]:
        books = self._tokens.books
        integers = {"rows": (n,)} | books.shapes(n) | books.shapes_answer(n) | self._past.shapes(n)
        return integers | Sessions.integers(n, 1 + books.agent_books), Sessions.floats(n)

    def fill(self, feed: Feed, rows: Ints, frames: Ints) -> int:
        host, books = feed.host, self._tokens.books
        host["rows"][:] = rows
        books.fill(host, rows, frames)
        books.fill_answer(host, rows, frames)
        self._past.fill(host, rows, frames)
        self._sessions.fill(host, rows, frames)
        return self._past.span(host)

    def run(self, feed: Feed, span: int) -> tuple[Tensor, ...]:
        """Returns the answers int64 [n, 1 + dep_q] and a number a row, finite where its logits are, [n]."""
        device = feed.device
        condition = None if self._condition is None else self._condition.index_select(0, device["rows"])
        step = self._past.begin(feed, span)
        if self._kernel is not None and step.sheet is not None:
            return self._kernel(self._tokens.memory, device, step.sheet, condition)
        tokens = self._tokens.read(device["read"])
        hidden = self._language.forward(tokens, condition, self._past, step)
        text, audio = (Draw(feed, self._sessions, kind, self._language.noise[kind]) for kind in (TEXT, AUDIO))
        written, total = self._language.draw(hidden, text, audio)
        self._tokens.write(device["wrote"], written)
        return self._tokens.read(device["answer"]), total


class Speaking:
    """Decodes the agent's tokens of rows past the lag."""

    name = "speak"

    def __init__(self, decoder: Decoder, quantizer: Quantizer, tokens: Tokens, lag: int) -> None:
        self._decoder, self._quantizer, self._tokens, self._lag = decoder, quantizer, tokens, lag

    def shapes(self, n: int) -> tuple[Mapping[str, Shape], Mapping[str, Shape]]:
        return self._decoder.shapes(n) | self._tokens.books.shapes_answer(n), {}

    def fill(self, feed: Feed, rows: Ints, frames: Ints) -> int:
        """frames: int64 [n], from the lag on."""
        self._decoder.fill(feed.host, rows, frames - self._lag)
        self._tokens.books.fill_answer(feed.host, rows, frames)
        return self._decoder.stack.past.span(feed.host)

    def run(self, feed: Feed, span: int) -> tuple[Tensor, ...]:
        """Returns the sound, float32 [n, 1920]."""
        latent = self._quantizer.recall(self._tokens.memory, feed.device["answer"])
        return (self._decoder.sound(latent, feed, span),)
