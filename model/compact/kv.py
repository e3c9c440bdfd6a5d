"""Keys and values of the past: pages from one pool, a ring of exactly the model's context per slot.

A ring as long as the context holds just what a query may see, so nothing is masked by age: only
what is not yet written (in short calls) and, where a step brings several tokens, the newer ones of
the same step (moshi writes all of a step before any of it attends; modules/transformer.py).
Refuses to know layers' weights.

Two ways to attend, the same numbers: in place by a kernel of ours, each row at its own length (a CPU's,
in float32), or all rows at once on gathered pages with a mask (fixed shapes: CUDA graphs).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.compact.attention import attend_all
from model.compact.feed import Feed, Host, Ints, Shape
from model.compact.kernels.attention import over_past
from model.compact.kernels.kernel import Sheet
from model.compact.kernels.weights import GROUP
from model.compact.layers import Stack
from model.compact.products import plain
from model.compact.refusals import Unsupported
from model.compact.rooms import room

BIAS_NUMBERS = 2**20
"""The largest table of biases: twice what Mimi's context of 250 frames, two tokens each, takes."""


class PagesExhausted(Exception):
    """The pool has no free page: more slots than it was cut for."""


@dataclass(frozen=True, slots=True)
class PagePlan:
    """How a pool is cut. The first page stays zero: tables point to it where a row has none.

    There are pages for every slot's whole context, so that a session that has a slot cannot run out of
    them, however long its neighbours' calls are: a free place and free pages are one bound, "places".
    in_place: by a kernel, and a slot has one page. spans: how many places a gathered step may look at,
    growing.
    """

    page: int
    pages: int
    in_place: bool
    spans: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KVStep:
    """One step's bookkeeping, shared by all layers.

    first, later: int64 [n], [tokens]. bias: float [1, n, tokens, span] added to the scores. sheet: of the
    past, for kernels: there is one of the two.
    """

    first: Tensor
    later: Tensor
    write: Tensor
    table: Tensor
    span: int
    bias: Tensor | None
    sheet: Sheet | None

    @property
    def positions(self) -> Tensor:
        """int64 [n * tokens]."""
        return (self.first[:, None] + self.later).flatten()


@dataclass(frozen=True, slots=True)
class Slots:
    """How many rows there may be, and whether steps must keep to few shapes (CUDA graphs)."""

    count: int
    few_shapes: bool = False

    def plan(self, stack: Stack, like: Tensor) -> PagePlan:
        """One page a slot: suits a CPU, where address space is free, and short contexts anywhere."""
        if self.few_shapes:
            return paged(stack, ring_of(stack), self.count + 1)
        in_place = plain(like) and stack.width % GROUP == 0
        return PagePlan(ring_of(stack), self.count + 1, in_place, spans=(ring_of(stack),))


def paged(stack: Stack, page: int, pages: int) -> PagePlan:
    """Every shape is one of few: spans double."""
    columns = -(-ring_of(stack) // page)
    doubled = [1 << n for n in range(columns.bit_length()) if 1 << n < columns]
    return PagePlan(page, pages, in_place=False, spans=tuple(page * count for count in (*doubled, columns)))


def past_bytes(stack: Stack, itemsize: int) -> int:
    """What the keys and values of one slot take when its context is full."""
    return len(stack.layers) * 2 * ring_of(stack) * stack.kv_heads * stack.width * itemsize


def ring_of(stack: Stack) -> int:
    if stack.context is None:
        raise Unsupported("a transformer without a context")
    return stack.context


class KVStore:
    """The past of one stack for every slot. tokens: how many a step brings (1, or Mimi's 2)."""

    def __init__(self, stack: Stack, slots: int, tokens: int, plan: PagePlan, like: Tensor) -> None:
        """like: a tensor of the dtype and device to keep them in."""
        dtype, device = like.dtype, like.device
        self.ring = ring_of(stack)
        self.spans = plan.spans
        self._stack, self.tokens, self._plan = stack, tokens, plan
        self._columns = -(-self.ring // plan.page)
        shape = (len(stack.layers), 2 * stack.kv_heads, plan.pages * plan.page, stack.width)
        pool = torch.zeros(shape, dtype=dtype, device=device)
        self._layers = pool.unbind(0)  # each [keys' then values' heads, places, width]
        self._pool = pool
        self._pages = pool.view(*shape[:2], plan.pages, plan.page, stack.width)
        self._table: Ints = np.zeros((slots, self._columns), np.int64)
        self._used: Ints = np.zeros(slots, np.int64)
        self._growing = set(range(slots))  # who may need another page
        self._free = list(range(plan.pages - 1, 0, -1))
        self._places = torch.arange(self._columns * plan.page, device=device)
        self._later = torch.arange(tokens, device=device)
        self._later_host = np.arange(tokens)
        self._seen, self._unseen = torch.tensor([0.0, -torch.inf], dtype=dtype, device=device)
        self._biases = self._every_bias()

    @property
    def bytes_per_page(self) -> int:
        return self._pages[:, :, 0].nbytes

    @property
    def in_place(self) -> bool:
        """Whether kernels read it where it lies."""
        return self._plan.in_place

    def _held(self, slot: int) -> Ints:
        return self._table[slot, : self._used[slot]]

    def reset(self, slot: int) -> None:
        """Gives the slot's pages back. They are wiped when taken, where a stale number could be read."""
        self._free.extend(self._held(slot).tolist())
        self._used[slot] = 0
        self._growing.add(slot)
        self._table[slot] = 0

    def shapes(self, n: int) -> dict[str, Shape]:
        """The integers a step of n rows needs on the device."""
        tokens, columns = self.tokens, self._columns
        return {"position": (n,), "turn": (n,), "write": (n, tokens), "table": (n, columns)}

    def fill(self, host: Host, rows: Ints, steps: Ints) -> None:
        """Makes room for this step's tokens and writes down where they go. steps: int64 [n], past ones."""
        first, page = np.multiply(steps, self.tokens, out=host["position"]), self._plan.page
        if not self._growing.isdisjoint(rows.tolist()):
            self._make_room(rows, np.minimum(first + self.tokens, self.ring))
        places = (first[:, None] + self._later_host) % self.ring
        table = host["table"][:] = self._table[rows]
        if self._columns == 1:
            np.add(table * page, places, out=host["write"])
        else:
            np.add(np.take_along_axis(table, places // page, axis=1) * page, places % page, out=host["write"])
        if self._biases is not None:
            np.add(places[:, 0], (first >= self.ring) * self.ring, out=host["turn"])

    def _make_room(self, rows: Ints, lengths: Ints) -> None:
        needed = -(-lengths // self._plan.page)
        for i in np.flatnonzero(needed > self._used[rows]):
            row = rows[i]
            while self._used[row] < needed[i]:
                if not self._free:
                    raise PagesExhausted("no page of the key-value pool is free")
                page = self._free.pop()
                if not self._plan.in_place:
                    self._wipe(page)
                self._table[row, self._used[row]] = page
                self._used[row] += 1
                if self._used[row] == self._columns:
                    self._growing.discard(int(row))

    def _wipe(self, page: int) -> None:
        """0 x NaN is NaN: a broken session's numbers must not reach the next owner through the mask."""
        self._pages[:, :, page].zero_()

    def span(self, host: Host) -> int:
        """How many places this step must look at."""
        if len(self.spans) == 1:
            return self.spans[0]
        longest = int(self._lengths(host).max())
        return next(span for span in self._plan.spans if span >= longest)

    def _lengths(self, host: Host) -> Ints:
        lengths: Ints = np.minimum(host["position"] + self.tokens, self.ring)
        return lengths

    def begin(self, feed: Feed, span: int) -> KVStep:
        """The step's shared work."""
        device = feed.device
        first, write, table = device["position"], device["write"].flatten(), device["table"]
        if self._plan.in_place:
            return KVStep(first, self._later, write, table, span, None, self._sheet(feed))
        if self._biases is not None:
            bias = self._biases.index_select(0, device["turn"])[None]
        else:
            bias = self._bias(first[:, None] + self._later, span)
        return KVStep(first, self._later, write, table, span, bias, None)

    def _sheet(self, feed: Feed) -> Sheet:
        device, pool = feed.device, self._pool
        steps = pool.stride(0) * pool.itemsize, pool.stride(1) * pool.itemsize
        where = device["table"], device["position"], device["write"]
        return Sheet(pool, *steps, *where, self._plan.page, self.ring)

    def _every_bias(self) -> Tensor | None:
        """Of each first position of two rings, [2 * ring, tokens, ring]: later ones are like the second's.

        Ten small operations less at every step, where there is one span and it is short.
        """
        if self._plan.in_place or self.spans != (self.ring,) or 2 * self.ring**2 * self.tokens > BIAS_NUMBERS:
            return None
        first = torch.arange(2 * self.ring, device=self._later.device)
        return self._bias(first[:, None] + self._later, self.ring)[0]

    def _bias(self, positions: Tensor, span: int) -> Tensor:
        """0 where query [n, t] may see place p, -inf elsewhere: [1, n, t, span]."""
        last = positions[:, -1:, None]
        place = self._places[:span]
        written = last - torch.remainder(last - place, self.ring)  # the position that lies in the place
        seen = (written >= 0) & (written <= positions[:, :, None])
        if span > self.ring:
            seen &= place < self.ring
        return torch.where(seen, self._seen, self._unseen)[None]

    def attend(self, layer: int, qkv: Tensor, step: KVStep) -> Tensor:
        """Stores this step's keys and values, then attends. qkv [n * tokens, ...] -> [n * tokens, dim]."""
        stack = self._stack
        inner = stack.heads * stack.width
        if step.sheet is not None:
            y = room(len(qkv), inner)
            shape = len(qkv) // self.tokens, self.tokens, stack.heads, stack.kv_heads, stack.width
            over_past(step.sheet, layer, qkv, *shape, room(self.ring), y)
            return y
        kv = qkv[:, inner:].view(-1, 2 * stack.kv_heads, stack.width).transpose(0, 1)
        self._layers[layer].index_copy_(1, step.write, kv)
        return self._flatten(self._gathered(layer, self._queries(qkv[:, :inner]), step))

    def _queries(self, q: Tensor) -> Tensor:
        """[n * t, heads * w] -> [n, kv_heads, group * t, w]: a group shares its keys and values."""
        stack, t = self._stack, self.tokens
        group = stack.heads // stack.kv_heads
        if t == 1:
            return q.view(-1, stack.kv_heads, group, stack.width)
        q = q.view(-1, t, stack.kv_heads, group, stack.width).permute(0, 2, 3, 1, 4)
        return q.reshape(-1, stack.kv_heads, group * t, stack.width)

    def _flatten(self, attended: Tensor) -> Tensor:
        stack, t = self._stack, self.tokens
        if t == 1:
            return attended.reshape(-1, stack.heads * stack.width)
        x = attended.view(-1, stack.kv_heads, stack.heads // stack.kv_heads, t, stack.width)
        return x.permute(0, 3, 1, 2, 4).reshape(-1, stack.heads * stack.width)

    def _grouped(self, bias: Tensor | None) -> Tensor | None:
        group = self._stack.heads // self._stack.kv_heads
        return bias if bias is None or group == 1 else bias.repeat(1, 1, group, 1)

    def _gathered(self, layer: int, queries: Tensor, step: KVStep) -> Tensor:
        pages = self._pages[layer]
        if self._columns == 1:
            past = pages[:, :, : step.span].index_select(1, step.table[:, 0])
        else:
            columns = step.table[:, : step.span // self._plan.page].flatten()
            past = pages.index_select(1, columns).view(len(pages), -1, step.span, self._stack.width)
        keys, values = past.chunk(2)  # [kv_heads, n, span, width]
        turned = queries.transpose(0, 1).contiguous()
        return attend_all(turned, keys, values, self._grouped(step.bias)).transpose(0, 1)
