"""Products of a few rows with a weight, each in the form in which a CPU reads the weight fastest.

A step reads every weight once and computes little with it. Between two steps the weights leave the
core's own cache, and which way a kernel goes through memory decides how well it is read ahead:
measured with weights that were not in a cache, the right form takes half the time of the wrong one.
Refuses to know what the weights are for.
"""

from __future__ import annotations

import torch
from torch import Tensor

FEW = 5
"""Up to so many rows, above one, a CPU is fastest with the weight as it lies; measured."""
TURNED_NUMBERS = 2**22
"""Larger weights are of models that a CPU is too slow for: not worth the memory of a copy."""
_ONE = torch.ones(1, 1, 1)


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

    On a CPU in float32 a copy lies turned, [in, out]: what one row is read with, and many.
    """

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight
        self.turned = weight.t()
        self._few = FEW if plain(weight) else 0
        if self._few and weight.numel() <= TURNED_NUMBERS:
            self.turned = self.turned.contiguous()

    def times(self, x: Tensor) -> Tensor:
        """x [n, in], whose rows do not overlap -> [n, out]."""
        if 1 < len(x) <= self._few:
            return torch.mm(self.weight, x.t()).t().contiguous()
        return torch.mm(x, self.turned)

    def added(self, to: Tensor, x: Tensor) -> Tensor:
        """to [n, out] or [out], x [n, in] -> [n, out]."""
        if 1 < len(x) <= self._few:
            return torch.add(to, torch.mm(self.weight, x.t()).t()).contiguous()
        return torch.addmm(to, x, self.turned)
