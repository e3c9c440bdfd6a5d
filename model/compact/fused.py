"""The language model's whole step as one kernel, where every part of it has one.

Refuses to know sound and sessions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from model.compact.depth import Depth
from model.compact.draw import AUDIO, TEXT
from model.compact.feed import Device
from model.compact.kernels.kernel import Sheet
from model.compact.kernels.language import think
from model.compact.kv import KVStore
from model.compact.language import Language
from model.compact.layers import Head
from model.compact.norms import Norm
from model.compact.rooms import int_room, room
from model.compact.stacks import StackKernel, fits


def fuses(language: Language, past: KVStore) -> bool:
    """Whether the kernel can do all of it."""
    depth = language.depth
    stacks = language.stack, depth.stack
    matrices = depth.projection, language.text_head.matrix, *(head.matrix for head in depth.heads)
    known = all(fits(s) and not s.sine for s in stacks) and all(m.packed is not None for m in matrices)
    return known and past.in_place


@dataclass(frozen=True, slots=True)
class _Sheets:
    """Of one number of rows, with the room that they need, in float32."""

    language: Sheet
    room: int


class LanguageKernel:
    """What `Language` computes and draws, in one call."""

    def __init__(self, language: Language, ring: int) -> None:
        self._language, self._ring = language, ring
        self._stack = StackKernel(language.stack, language.layers.positions.frequencies)
        self._text = _head_sheet(language.out_norm, language.text_head, language.stack.dim)
        self._steps = _depformer_sheets(language.depth)
        self._sheets: dict[int, _Sheets] = {}

    def __call__(
        self, memory: Tensor, device: Device, past: Sheet, condition: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Reads and writes tokens' memory where the feed says.

        Returns the answers int64 [n, 1 + dep_q] and a number a row, finite where its logits are, [n].
        """
        n, language = len(device["rows"]), self._language
        if n not in self._sheets:
            self._sheets[n] = self._make(n)
        sheets = self._sheets[n]
        x, totals = room(n, language.stack.dim), room(n)
        tokens, answer = (int_room(n, 1 + language.depth.steps) for _ in range(2))
        think(
            *(sheets.language, past, *self._draws(device), n, memory),
            *(device["read"], device["wrote"], device["answer"], 0 if condition is None else condition),
            *(x, tokens, answer, totals, room(sheets.room)),
        )
        return answer, totals

    def _draws(self, device: Device) -> tuple[Sheet, Sheet]:
        heat, place, keys = device["temperature"], device["place"], device["keys"]
        books, cards = keys.shape[1], (self._language.text_card, self._language.depth.card)
        firsts = keys, keys.flatten()[1:]
        text, audio = (Sheet(heat[i], place[i], firsts[i], books, cards[i]) for i in (TEXT, AUDIO))
        return text, audio

    def _make(self, n: int) -> _Sheets:
        language, depth = self._language, self._language.depth
        steps = [step.sheet(past) for step, past in zip(self._steps, _pasts(depth, n), strict=True)]
        cards = max(language.text_card, depth.card)
        tables, projection = language.tables, depth.projection.packed
        assert projection is not None
        lookup = language.stack.dim, tables.firsts.numel(), tables.table, tables.firsts
        depformer = projection.sheet, depth.stack.dim, depth.steps, Sheet(*steps), cards
        beside = n * (projection.outputs + depth.stack.dim + cards)
        inner = max(step.stack.room(n, depth.steps) for step in self._steps)
        spare = max(self._stack.room(n, self._ring), (n + 1) * cards, beside + max(inner, cards))
        return _Sheets(Sheet(*lookup, self._stack.sheet, self._text, *depformer), spare)


@dataclass(frozen=True, slots=True)
class _Step:
    """One of the depformer's."""

    stack: StackKernel
    table: Tensor
    part: int
    head: Sheet

    def sheet(self, past: Sheet) -> Sheet:
        return Sheet(self.stack.sheet, past, self.table, self.part, self.head)


def _depformer_sheets(depth: Depth) -> list[_Step]:
    return [
        _Step(
            StackKernel(depth.stack, depth.frequencies, *depth.weights_of(step)),
            depth.tables.each[step],
            depth.inputs[step],
            _head_sheet(depth.norms[step], depth.heads[step], depth.stack.dim),
        )
        for step in range(depth.steps)
    ]


def _pasts(depth: Depth, n: int) -> list[Sheet]:
    """Where each step finds and writes keys and values: a row's places lie side by side.

    Made by numpy, since a recorder would take what torch makes for a part of every replay.
    """
    stack, steps, rows = depth.stack, depth.steps, np.arange(n)
    pool = np.zeros((len(stack.layers), 2 * stack.kv_heads, n * steps, stack.width), np.float32)
    numbers = [(rows, np.full(n, step), rows * steps + step) for step in range(steps)]
    return [Sheet(pool, *pool.strides[:2], *where, steps, steps) for where in numbers]


def _head_sheet(norm: Norm, head: Head, dim: int) -> Sheet:
    assert head.matrix.packed is not None
    bias = 0 if head.bias is None else head.bias.contiguous()
    return Sheet(norm.sheet(dim), head.matrix.packed.sheet, bias)
