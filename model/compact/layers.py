"""moshi's transformer layers read into plain weights, and the arithmetic of one layer.

Attention itself is the caller's: a layer makes queries, keys and values and takes back what was
attended. Refuses to know caches, positions and rows. What a layer has that this cannot do is
refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from moshi.modules.gating import ActivationGating
from torch import Tensor, nn
from torch.nn import functional as F

from model.compact.norms import Norm, norm_of
from model.compact.products import Matrix, plain
from model.compact.refusals import refuse_if


def weight_of(module: Any, what: str) -> Tensor:
    """The matrix of a plain linear layer without bias, [out, in]."""
    refuse_if(type(module) is not nn.Linear, f"{what} is a {type(module).__name__}, not a plain linear layer")
    refuse_if(module.bias is not None, f"{what} has a bias")
    weight: Tensor = module.weight.detach()
    return weight


class Head:
    """A linear layer from hidden numbers to logits; some checkpoints give it a bias."""

    def __init__(self, module: Any, what: str) -> None:
        refuse_if(type(module) is not nn.Linear, f"{what} is a {type(module).__name__}")
        self.matrix = Matrix(module.weight.detach())
        self.bias = None if module.bias is None else module.bias.detach()

    def __call__(self, x: Tensor) -> Tensor:
        """[n, dim] -> [n, card]."""
        return self.matrix.times(x) if self.bias is None else self.matrix.added(self.bias, x)


@dataclass(frozen=True, slots=True)
class FeedForward:
    """Gated (act(a) * b) or plain (act(a)). named: the activation as moshi has it."""

    inner: Matrix
    outer: Matrix
    activation: Callable[[Tensor], Tensor]
    named: Callable[[Tensor], Tensor]
    gated: bool

    def hidden(self, x: Tensor) -> Tensor:
        h = self.inner.times(x)
        if not self.gated:
            return self.activation(h)
        a, b = h.chunk(2, dim=-1)
        return self.activation(a) * b


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer. Where weights differ by step there is one matrix for each weight index, else one."""

    norm1: Norm
    norm2: Norm
    qkv: tuple[Matrix, ...]
    out: tuple[Matrix, ...]
    feed: tuple[FeedForward, ...]
    scale1: Tensor | None
    scale2: Tensor | None

    def finish(self, x: Tensor, attended: Tensor, weights: int = 0, feed: int = 0) -> Tensor:
        """x, attended [n, dim] -> the layer's output [n, dim]."""
        x = _add(x, attended, self.out[weights], self.scale1)
        block = self.feed[feed]
        return _add(x, block.hidden(self.norm2(x)), block.outer, self.scale2)


def _add(x: Tensor, y: Tensor, matrix: Matrix, scale: Tensor | None) -> Tensor:
    if scale is None:
        return matrix.added(x, y)
    return torch.addcmul(x, matrix.times(y), scale)


@dataclass(frozen=True, slots=True)
class Stack:
    """A transformer's layers and what they share.

    context: frames of past each query sees; None where the caller bounds it (the depformer).
    rope: the rotation's longest period, None without. sine: scale of a sinusoidal embedding that is
    added to the input, 0 without.
    """

    layers: tuple[Layer, ...]
    dim: int
    heads: int
    kv_heads: int
    context: int | None
    rope: float | None
    sine: float
    sine_period: float

    @property
    def width(self) -> int:
        return self.dim // self.heads


def read_stack(transformer: Any, what: str) -> Stack:
    """Reads a moshi StreamingTransformer. Raises Unsupported."""
    layers = list(transformer.layers)
    attention = layers[0].self_attn
    kind = transformer.positional_embedding
    halves = kind == "rope_concat"
    return Stack(
        tuple(_read_layer(layer, halves, what) for layer in layers),
        attention.embed_dim,
        attention.num_heads,
        attention.num_heads // attention.kv_repeat,
        attention.context,
        float(transformer.max_period) if "rope" in kind else None,
        float(transformer.positional_scale) if "sin" in kind else 0.0,
        float(transformer.max_period),
    )


def _read_layer(layer: Any, halves: bool, what: str) -> Layer:
    refuse_if(layer.skip_self_attn, f"{what}: skip_self_attn")
    refuse_if(layer.cross_attention is not None, f"{what}: cross_attention")
    attention = layer.self_attn
    refuse_if(not attention.causal, f"{what}: causal false")
    qkv = [weight_of(m, f"{what} in_proj") for m in attention.in_projs]
    if halves:
        qkv = [_interleave(w, attention) for w in qkv]
    return Layer(
        norm_of(layer.norm1),
        norm_of(layer.norm2),
        tuple(Matrix(weight) for weight in qkv),
        tuple(Matrix(weight_of(m, f"{what} out_proj")) for m in attention.out_projs),
        tuple(_read_feeds(layer, what)),
        _scale_of(layer.layer_scale_1),
        _scale_of(layer.layer_scale_2),
    )


def _interleave(weight: Tensor, attention: Any) -> Tensor:
    """Turns a rotation of halves [r..., i...] into one of pairs [r0, i0, r1, i1, ...].

    Attention does not mind the order of a head's numbers, as long as queries and keys share it.
    """
    width = attention.embed_dim // attention.num_heads
    heads = attention.num_heads + attention.num_heads // attention.kv_repeat
    turned = weight[: heads * width].view(heads, 2, width // 2, -1).transpose(1, 2)
    return torch.cat([turned.reshape(heads * width, -1), weight[heads * width :]])


def _activation(function: Any, weight: Tensor) -> Callable[[Tensor], Tensor]:
    """GELU by erf: on a CPU in float32 torch's own takes five times as long for one row.

    In narrower numbers this one would round at every operation, and torch's own only at the end.
    """
    if function is not F.gelu or not plain(weight):
        return function  # type: ignore[no-any-return]
    half, root = weight.new_tensor(0.5), weight.new_tensor(math.sqrt(0.5))

    def gelu(x: Tensor) -> Tensor:
        halved = x * half
        return torch.addcmul(halved, halved, torch.erf(x * root))

    return gelu


def _scale_of(module: Any) -> Tensor | None:
    if isinstance(module, nn.Identity):
        return None
    scale: Tensor = module.scale.detach()
    return scale


def _read_feeds(layer: Any, what: str) -> Iterable[FeedForward]:
    if layer.gating is None:
        inner, outer = (weight_of(m, f"{what} feed-forward") for m in (layer.linear1, layer.linear2))
        act = layer.activation
        yield FeedForward(Matrix(inner), Matrix(outer), _activation(act, inner), act, gated=False)
        return
    gates: Iterable[Any] = layer.gating if isinstance(layer.gating, nn.ModuleList) else [layer.gating]
    for gate in gates:
        refuse_if(not isinstance(gate, ActivationGating), f"{what}: gating {type(gate).__name__}")
        inner, outer = (weight_of(m, f"{what} gating") for m in (gate.linear_in, gate.linear_out))
        act = gate.activation
        yield FeedForward(Matrix(inner), Matrix(outer), act, act, gated=True)
