"""A transformer's layers over some rows: as one kernel, where it has what the kernel knows, or one by one.

Refuses to know which transformer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nn import functional as F

from model.compact.kernels import stack as kernel
from model.compact.kernels.kernel import Sheet
from model.compact.kernels.weights import GROUP
from model.compact.kv import KVStep, KVStore
from model.compact.layers import FeedForward, Layer, Stack
from model.compact.positions import Positions
from model.compact.products import Matrix
from model.compact.rooms import room

_ACTIVATIONS: dict[Callable[..., Any], int] = {F.silu: kernel.SILU, F.gelu: kernel.GELU}


def fits(stack: Stack) -> bool:
    """Whether the kernel can do all of it."""
    return stack.width % GROUP == 0 and all(_layer_fits(layer) for layer in stack.layers)


def _layer_fits(layer: Layer) -> bool:
    matrices = [*layer.qkv, *layer.out, *(m for feed in layer.feed for m in (feed.inner, feed.outer))]
    return all(m.packed is not None for m in matrices) and all(f.named in _ACTIVATIONS for f in layer.feed)


class Layers:
    """All of a stack. first: the number of its first layer, where others have layers in the same past."""

    def __init__(self, stack: Stack, positions: Positions, first: int = 0) -> None:
        self._stack, self.positions, self._first = stack, positions, first
        self._kernel = StackKernel(stack, positions.frequencies, first=first) if fits(stack) else None

    def __call__(self, x: Tensor, past: KVStore, step: KVStep) -> Tensor:
        """x [n * tokens, dim], which may be written over -> the same shape."""
        if self._stack.sine:
            x = self.positions.embed(x, step.positions)
        if self._kernel is not None and step.sheet is not None:
            return self._kernel(x, step.sheet, len(step.later), past.ring)
        rotation = self.positions.rotation(step.positions)
        for i, layer in enumerate(self._stack.layers, self._first):
            qkv = layer.qkv[0].times(layer.norm1(x))
            self.positions.rotate(qkv, rotation)
            x = layer.finish(x, past.attend(i, qkv, step))
        return x


class StackKernel:
    """frequencies: of the rotation. weights, feed: which of the layers' matrices, where they differ by step.

    first: as `Layers` has it.
    """

    def __init__(
        self, stack: Stack, frequencies: Tensor | None, weights: int = 0, feed: int = 0, first: int = 0
    ) -> None:
        self._stack = stack
        self._hidden = max(_outputs(layer.feed[feed].inner) for layer in stack.layers)
        layers = [_sheet_of(layer, stack.dim, weights, feed) for layer in stack.layers]
        shape = stack.dim, stack.heads, stack.kv_heads, stack.width
        self.sheet = Sheet(*shape, 0 if frequencies is None else frequencies, first, len(layers), *layers)

    def room(self, lines: int, ring: int) -> int:
        """Numbers in float32 that the kernel needs beside, for so many rows and tokens."""
        stack = self._stack
        shape = stack.dim, stack.heads, stack.kv_heads, stack.width, self._hidden
        return kernel.room_for(*shape, ring, lines)

    def __call__(self, x: Tensor, past: Sheet, tokens: int, ring: int) -> Tensor:
        """x [rows * tokens, dim], in place. past: as `kernels.attention` has it, its ring as long as said."""
        spare = room(self.room(len(x), ring))
        kernel.through_layers(self.sheet, past, x, len(x) // tokens, tokens, spare)
        return x


def _sheet_of(layer: Layer, dim: int, weights: int, feed: int) -> Sheet:
    block = layer.feed[feed]
    first = layer.norm1.sheet(dim), _packed(layer.qkv[weights]), _packed(layer.out[weights])
    second = layer.norm2.sheet(dim), _packed(block.inner), _packed(block.outer)
    scale1, scale2 = (0 if scale is None else scale.contiguous() for scale in (layer.scale1, layer.scale2))
    return Sheet(*first, scale1, *second, scale2, _kind(block))


def _kind(feed: FeedForward) -> int:
    return _ACTIVATIONS[feed.named] + (kernel.GATED if feed.gated else 0)


def _packed(matrix: Matrix) -> Sheet:
    assert matrix.packed is not None
    return matrix.packed.sheet


def _outputs(matrix: Matrix) -> int:
    return matrix.weight.shape[0]
