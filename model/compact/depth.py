"""The depformer, unrolled over a frame's codebooks: no ring, no copies, no bookkeeping on the device.

What the temporal transformer gave is projected for all steps at once; a step adds its last token,
attends to the steps before it and draws. Refuses to know frames and slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from model.compact.attention import attend_all
from model.compact.draw import Pick
from model.compact.embeddings import JoinedTables
from model.compact.layers import Head, read_stack, weight_of
from model.compact.norms import norm_of
from model.compact.positions import Positions
from model.compact.products import Matrix
from model.compact.refusals import refuse_if


class Depth:
    """Reads the depformer of a moshi LMModel. Raises Unsupported."""

    def __init__(self, lm: Any, device: torch.device) -> None:
        refuse_if(lm.depformer is None, "a model without a depformer")
        attention = lm.depformer.layers[0].self_attn
        refuse_if(not attention.weights_per_step, "depformer_weights_per_step false")
        self.steps = int(lm.dep_q)
        self.card = int(lm.card)
        self.stack = read_stack(lm.depformer, "depformer")
        schedule = lm.depformer_weights_per_step_schedule or range(self.steps)
        self._which = [_of(self.stack.layers[0].qkv, step) for step in schedule]
        self._feed = [_of(self.stack.layers[0].feed, step) for step in schedule]
        self._positions = Positions(self.stack, device)
        self.frequencies = self._positions.frequencies
        self._step_numbers = torch.arange(self.steps, device=device)[:, None].unbind(0)
        self._rotations = [self._positions.rotation(number) for number in self._step_numbers]
        self._inner, self._group = (
            self.stack.heads * self.stack.width,
            self.stack.heads // self.stack.kv_heads,
        )
        self._past: dict[int, list[list[Place]]] = {}
        self.tables = JoinedTables([lm.depformer_text_emb, *lm.depformer_emb])
        self.projection = Matrix(_joined(lm.depformer_in))
        self.inputs = [step if lm.depformer_multi_linear else 0 for step in schedule]
        self.norms = [norm_of(norm) for norm in lm.depformer_norms]
        self.heads = [Head(head, "linears") for head in lm.linears]

    def draw(self, tokens: Tensor, heard: Tensor, draw: Pick) -> Tensor:
        """Writes the audio tokens into tokens, int64 [n, 1 + steps], whose first is the text's.

        heard [n, dim] is the temporal transformer's output. Returns the last step's logits [n, card].
        """
        n, dim = tokens.shape[0], self.stack.dim
        inputs = self.projection.times(heard).view(n, -1, dim).unbind(1)
        places = self._places(n, heard)
        token = tokens.unbind(1)
        for step in range(self.steps):
            x = inputs[self.inputs[step]] + self.tables.row(step, token[step])
            x = self.norms[step](self._through(x, step, places[step]))
            logits = self.heads[step](x)
            draw.pick(logits, step, token[step + 1])
        return logits

    def weights_of(self, step: int) -> tuple[int, int]:
        """Which of a layer's attention weights are the step's, and which of its feed-forwards."""
        return self._which[step], self._feed[step]

    def _places(self, n: int, like: Tensor) -> list[list[Place]]:
        """Of each step and layer. Made once for each number of rows: a frame overwrites the last one's."""
        if n not in self._past:
            stack = self.stack
            shape = (len(stack.layers), 2, n, stack.kv_heads, self.steps, stack.width)
            past = torch.empty(shape, dtype=like.dtype, device=like.device)
            self._past[n] = [[_place(layer, step) for layer in past] for step in range(self.steps)]
        return self._past[n]

    def _through(self, x: Tensor, step: int, places: list[Place]) -> Tensor:
        x = self._positions.embed(x, self._step_numbers[step])
        rotation = self._rotations[step]
        weights, feed = self.weights_of(step)
        for layer, place in zip(self.stack.layers, places, strict=True):
            qkv = layer.qkv[weights].times(layer.norm1(x))
            self._positions.rotate(qkv, rotation)
            x = layer.finish(x, self._attend(qkv, place), weights, feed)
        return x

    def _attend(self, qkv: Tensor, place: Place) -> Tensor:
        """qkv [n, ...] -> [n, dim]. A lone place is all there is to see: its values are the answer."""
        inner, group = self._inner, self._group
        place.write.copy_(qkv[:, inner:].view(-1, 2, self.stack.kv_heads, self.stack.width))
        if place.alone and group == 1:
            return qkv[:, 2 * inner :]
        queries = qkv[:, :inner].view(-1, self.stack.kv_heads, group, self.stack.width)
        return attend_all(queries, place.keys, place.values).view(-1, inner)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a step's keys and values go in one layer, and what it sees: views of one memory.

    write: [n, 2, kv_heads, width]. keys, values: [n, kv_heads, steps so far, width].
    """

    write: Tensor
    keys: Tensor
    values: Tensor
    alone: bool


def _place(past: Tensor, step: int) -> Place:
    """past: [2, n, kv_heads, steps, width] of one layer."""
    keys, values = past[:, :, :, : step + 1].unbind(0)
    return Place(past[:, :, :, step].transpose(0, 1), keys, values, alone=step == 0)


def _of(weights: tuple[Any, ...], step: int) -> int:
    """The index of a step's weights; moshi uses a lone set for every step."""
    return step if len(weights) > 1 else 0


def _joined(projections: nn.ModuleList) -> Tensor:
    """One matrix [steps * depformer_dim, dim]; each module becomes a view of its part."""
    weights = [weight_of(module, "depformer_in") for module in projections]
    joined = torch.cat(weights)
    width = weights[0].shape[0]
    for i, module in enumerate(projections):
        module.weight.data = joined[i * width : (i + 1) * width]
    return joined
