"""Where tokens stand in time: rotations and sinusoids, computed once a step for all layers.

Formulas as in moshi (modules/rope.py, modules/transformer.py create_sin_embedding), in float32.
"""

from __future__ import annotations

import math

import torch
from moshi.modules.transformer import create_sin_embedding
from torch import Tensor

from model.compact.layers import Stack


class Positions:
    """The positional part of one stack, on one device."""

    def __init__(self, stack: Stack, device: torch.device) -> None:
        self._stack = stack
        self._heads = stack.heads + stack.kv_heads
        pairs = torch.arange(stack.width // 2, device=device, dtype=torch.float32)
        period = stack.rope or 1.0
        self._frequencies = torch.exp(pairs * (-math.log(period) * 2 / stack.width))
        self.frequencies = None if stack.rope is None else self._frequencies
        """float32 [width / 2], where there is a rotation."""
        self._length = torch.ones((), dtype=torch.float32, device=device)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Adds the sinusoid to x [n, dim] where the model has one. positions: int64 [n]."""
        stack = self._stack
        if not stack.sine:
            return x
        sinusoid = create_sin_embedding(positions[None, :, None], stack.dim, stack.sine_period, x.dtype)
        return torch.add(x, sinusoid[0], alpha=stack.sine)

    def rotation(self, positions: Tensor) -> Tensor | None:
        """complex64 [n, 1, width / 2] for `rotate`; None where the model has no rotation."""
        if self._stack.rope is None:
            return None
        angles = self._frequencies * positions.float()[:, None]
        return torch.polar(self._length.expand_as(angles), angles)[:, None]

    def rotate(self, qkv: Tensor, rotation: Tensor | None) -> None:
        """Turns the queries and keys of qkv [n, (heads + 2 kv_heads) * width] in place."""
        if rotation is None:
            return
        n, width = qkv.shape[0], self._stack.width
        turned = qkv[:, : self._heads * width].view(n, self._heads, width // 2, 2)
        if qkv.dtype == torch.float32:
            torch.view_as_complex(turned).mul_(rotation)
        else:
            turned.copy_(torch.view_as_real(torch.view_as_complex(turned.float()) * rotation))
