"""Mimi's convolutional encoder and decoder (SEANet) as a list of steps. Refuses to know codes and rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from moshi.modules.conv import StreamingConv1d, StreamingConvTranspose1d
from moshi.modules.seanet import SEANetResnetBlock
from torch import Tensor, nn
from torch.nn import functional as F

from model.compact.convolutions import Convolution, Flow, StateLayout, Transposed
from model.compact.refusals import refuse_if

FEW = 4096
"""So few numbers are not worth four operations in place of one."""
_ZERO, _ONE = torch.zeros(()), torch.ones(())  # a Python number would be one more copy each time
_POINTWISE = (nn.ELU, nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Identity, nn.LeakyReLU)


class SeaNet:
    """Reads a moshi SEANet's layers in order. Raises Unsupported."""

    def __init__(self, layers: Iterable[Any], layout: StateLayout, what: str) -> None:
        self.steps = [_read(layer, layout, what) for layer in layers]

    def __call__(self, x: Tensor, flow: Flow) -> Tensor:
        """[n, time, channels] in and out; times differ by the strides."""
        for step in self.steps:
            x = step(x, flow)
        return x


class Residual:
    """A block and what goes past it."""

    def __init__(self, block: Any, layout: StateLayout, what: str) -> None:
        self.block = SeaNet(block.block, layout, what)
        self.shortcut = SeaNet([block.shortcut], layout, what)

    def __call__(self, x: Tensor, flow: Flow) -> Tensor:
        return self.shortcut(x, flow) + self.block(x, flow)


class Pointwise:
    """The same function of every number."""

    def __init__(self, module: Any) -> None:
        self.module = module
        quick = isinstance(module, nn.ELU) and module.alpha == 1.0
        self._function = elu if quick else module

    def __call__(self, x: Tensor, flow: Flow) -> Tensor:
        del flow
        y: Tensor = self._function(x)
        return y


def elu(x: Tensor) -> Tensor:
    """ELU with alpha 1, by exp: on a CPU torch's own takes seven times as long, one expm1 at a time."""
    if x.numel() < FEW or x.device.type != "cpu":
        return F.elu(x)
    return torch.maximum(x, torch.minimum(x, _ZERO).exp_().sub_(_ONE))


def _read(layer: Any, layout: StateLayout, what: str) -> Any:
    if isinstance(layer, StreamingConv1d):
        return Convolution(layer, layout, what)
    if isinstance(layer, StreamingConvTranspose1d):
        return Transposed(layer, layout, what)
    if isinstance(layer, SEANetResnetBlock):
        return Residual(layer, layout, what)
    refuse_if(not isinstance(layer, _POINTWISE), f"{what}: {type(layer).__name__}")
    return Pointwise(layer)
