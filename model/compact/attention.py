"""One step's queries over the past. Refuses to know where the past lies.

On a CPU in float32 written out: torch's own kernel is made for many queries, and takes three times
as long for one. Elsewhere torch chooses (flash, memory-efficient, cuDNN).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from model.compact.products import plain

_NOTHING = torch.empty(1, 1, 1, dtype=torch.float32, device="cpu")
"""What scores are added to, zero times."""


def attend_all(queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None = None) -> Tensor:
    """queries [a, b, t, width], keys and values [a, b, span, width] -> [a, b, t, width].

    bias: added to the scores, broadcast to [a, b, t, span].
    """
    if not plain(queries):
        return F.scaled_dot_product_attention(queries, keys, values, bias)
    k, v = keys.flatten(0, 1), values.flatten(0, 1)
    scores = _scores(queries.flatten(0, 1), k.transpose(1, 2))
    if bias is not None:
        scores.view(*queries.shape[:3], -1).add_(bias)
    return torch.bmm(torch.softmax(scores, dim=-1), v).view_as(queries)


def _scores(queries: Tensor, keys: Tensor) -> Tensor:
    scale = 1 / math.sqrt(queries.shape[-1])
    return torch.baddbmm(_NOTHING, queries, keys, beta=0, alpha=scale)
