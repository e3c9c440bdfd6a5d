"""moshi's norms read into plain numbers: as torch computes them, and as kernels are told of them.

Refuses to know where in a model they stand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from moshi.modules.transformer import LayerNormF32, RMSNorm
from torch import Tensor, nn
from torch.nn import functional as F

from model.compact.kernels import norms as kinds
from model.compact.kernels.kernel import Sheet
from model.compact.refusals import refuse_if


@dataclass(frozen=True, slots=True)
class Norm:
    """kind: one of `kernels.norms`. gain, bias [width]: what there is of them."""

    kind: int
    gain: Tensor | None
    bias: Tensor | None
    eps: float
    function: Callable[[Tensor], Tensor]

    def __call__(self, x: Tensor) -> Tensor:
        """[..., width]."""
        return self.function(x)

    def sheet(self, width: int) -> Sheet:
        eps = torch.tensor([self.eps], dtype=torch.float32, device="cpu")
        given = (0 if part is None else part.float().contiguous() for part in (self.gain, self.bias))
        return Sheet(self.kind, *given, eps, width)


def norm_of(module: nn.Module) -> Norm:
    """One of moshi's four norms (modules/transformer.py, create_norm_fn)."""
    if isinstance(module, nn.Identity):
        return Norm(kinds.NONE, None, None, 0.0, _unchanged)
    if isinstance(module, RMSNorm):
        alpha = module.alpha.detach().flatten()
        return Norm(kinds.RMS, alpha, None, module.eps, _rms_norm(alpha, module.eps, module.dtype))
    wide = isinstance(module, LayerNormF32)
    refuse_if(not wide and type(module) is not nn.LayerNorm, f"the norm {type(module).__name__}")
    assert isinstance(module, nn.LayerNorm)
    gain, bias, eps, shape = module.weight.detach(), module.bias.detach(), module.eps, module.weight.shape
    if not wide:
        return Norm(kinds.LAYER, gain, bias, eps, lambda x: F.layer_norm(x, shape, gain, bias, eps))
    gain, bias = gain.float(), bias.float()
    function: Callable[[Tensor], Tensor]
    function = lambda x: F.layer_norm(x.float(), shape, gain, bias, eps).to(x.dtype)  # noqa: E731
    return Norm(kinds.LAYER, gain, bias, eps, function)


def _unchanged(x: Tensor) -> Tensor:
    return x


def _rms_norm(alpha: Tensor, eps: float, dtype: torch.dtype | None) -> Callable[[Tensor], Tensor]:
    """x / sqrt(mean(x^2) + eps) * alpha, in `dtype` where moshi asks for one."""
    shape = alpha.shape
    if dtype is not None and alpha.dtype != dtype:
        wide = alpha.to(dtype)
        return lambda x: F.rms_norm(x.to(dtype), shape, wide, eps).to(x.dtype)
    if alpha.device.type == "cpu":
        return _rms_norm_by_length(alpha, eps)
    return lambda x: F.rms_norm(x, shape, alpha, eps)


def _rms_norm_by_length(alpha: Tensor, eps: float) -> Callable[[Tensor], Tensor]:
    """The same by the vector's length: on a CPU torch's own is eight operations, this is four."""
    width = alpha.shape[0]
    gain, least = alpha * math.sqrt(width), torch.tensor(math.sqrt(width * eps), dtype=alpha.dtype)
    return lambda x: x * (gain / torch.hypot(torch.linalg.vector_norm(x, dim=-1, keepdim=True), least))
