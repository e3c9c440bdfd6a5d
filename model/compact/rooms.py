"""Memory that kernels write into: of their kind and place, whatever torch's defaults are.

Refuses to know who writes what.
"""

from __future__ import annotations

import torch
from torch import Tensor


def room(*shape: int) -> Tensor:
    """float32 on the CPU, as yet without meaning."""
    return torch.empty(*shape, dtype=torch.float32, device="cpu")


def int_room(*shape: int) -> Tensor:
    """int64 on the CPU, as yet without meaning."""
    return torch.empty(*shape, dtype=torch.int64, device="cpu")
