"""A weight as kernels read it: packed by blocks of outputs, in 16 bits where that is all it holds.

Checkpoints come in bfloat16, so that every float32 made of them has 16 zeros below. Those are left out
here and come back in a register: the numbers that are multiplied are the same, and half as many bytes are
read. A weight with a number that has more to it stays whole. Refuses to know what is multiplied.
"""

from __future__ import annotations

import torch
from torch import Tensor

from model.compact.kernels.kernel import Sheet

BLOCK, GROUP = 64, 16
"""Outputs that lie side by side for each input; and what they are rounded up to."""


class PackedWeight:
    """weight: float32 [out, in]. Laid as blocks [in, outputs of the block], the last one narrower.

    sheet: where the numbers lie, inputs, outputs, halved.
    """

    def __init__(self, weight: Tensor) -> None:
        self.outputs, self.inputs = weight.shape
        self.halved = bool((weight.view(torch.int32) & 0xFFFF == 0).all())
        missing = -self.outputs % GROUP
        padded = torch.cat([weight, weight.new_zeros(missing, self.inputs)])
        blocks = [_block(block, self.halved).flatten() for block in torch.split(padded, BLOCK)]
        self._numbers = torch.cat(blocks)
        self.nbytes = self._numbers.nbytes
        self.sheet = Sheet(self._numbers, self.inputs, self.outputs, int(self.halved))


def _block(block: Tensor, halved: bool) -> Tensor:
    """[out, in] -> [in, out], or [in, out / 2] with two eights of 16 bits as low and high halves."""
    if not halved:
        return block.t()
    eights = block.contiguous().view(torch.int32).t().reshape(block.shape[1], -1, 2, GROUP // 2)
    low, high = (eights >> 16).unbind(2)
    return (low & 0xFFFF) | (high << 16)
