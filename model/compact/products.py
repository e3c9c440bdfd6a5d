"""Products of rows with a weight: by kernels of our own on a CPU in float32, else by torch.

A step reads every weight once and computes little with it, so what counts is how many bytes a weight
has and how well it is read ahead. Refuses to know what the weights are for.
"""

from __future__ import annotations

import torch
from torch import Tensor

from model.compact.kernels.products import product
from model.compact.kernels.weights import PackedWeight
from model.compact.rooms import room

PACKED_NUMBERS = 2**22
"""Larger weights are of models that a CPU is too slow for: not worth the memory of a copy."""
_ONE = torch.ones(1, 1, 1, dtype=torch.float32, device="cpu")


def total(rows: Tensor) -> Tensor:
    """[n, k, width] -> [n, width], the sum of each n's k rows.

    On a CPU as a product with ones: a step needs that kernel anyway, and one that is not in the core's
    cache takes longer to fetch than to run.
    """
    if not plain(rows):
        return rows.sum(dim=1)
    return torch.bmm(_ONE.expand(len(rows), 1, rows.shape[1]), rows)[:, 0]


def plain(tensor: Tensor) -> bool:
    """Whether it is one of those that this file's ways were measured for."""
    return tensor.device.type == "cpu" and tensor.dtype == torch.float32


class Matrix:
    """A weight [out, in] with ways to multiply by it.

    On a CPU in float32 there is a copy packed for a kernel of our own, which is quicker than torch's
    with any number of rows, and whose rows do not hang on each other; measured.
    """

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight
        self.packed = packed_if_small(weight)

    def times(self, x: Tensor) -> Tensor:
        """x [n, in] -> [n, out]."""
        if self.packed is None:
            return torch.mm(x, self.weight.t())
        return _multiplied(self.packed, x, 0, 0)

    def added(self, to: Tensor, x: Tensor) -> Tensor:
        """to [n, out] or [out], x [n, in] -> [n, out]."""
        if self.packed is None:
            return torch.addmm(to, x, self.weight.t())
        return _multiplied(self.packed, x, to, to.stride(0) * to.itemsize if to.dim() > 1 else 0)


def packed_if_small(weight: Tensor) -> PackedWeight | None:
    """What kernels multiply by; None where torch does."""
    return PackedWeight(weight) if plain(weight) and weight.numel() <= PACKED_NUMBERS else None


def _multiplied(packed: PackedWeight, x: Tensor, to: Tensor | int, to_step: int) -> Tensor:
    if x.stride(1) != 1:
        x = x.contiguous()
    y = room(len(x), packed.outputs)
    product(packed.sheet, x, x.stride(0) * x.itemsize, len(x), y, to, to_step)
    return y
