"""The language model's step over the ready rows: tokens in, a text token and audio tokens out.

Refuses to know sound and sessions; tokens' delays are `model.compact.delays`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from model.compact.depth import Depth
from model.compact.draw import Pick
from model.compact.embeddings import JoinedTables
from model.compact.kv import KVStep, KVStore
from model.compact.layers import Head, Stack, read_stack
from model.compact.norms import norm_of
from model.compact.positions import Positions
from model.compact.products import total
from model.compact.stacks import Layers
from model.sampler import Noise

TEMPORAL = "the temporal transformer"


class Language:
    """Reads a moshi LMModel. Raises Unsupported."""

    def __init__(self, lm: Any, device: torch.device) -> None:
        self.stack: Stack = read_stack(lm.transformer, TEMPORAL)
        self.depth = Depth(lm, device)
        self.tables = JoinedTables([*lm.emb, lm.text_emb])  # moshi's order of summing: text last
        self.layers = Layers(self.stack, Positions(self.stack, device))
        self.out_norm = norm_of(lm.out_norm)
        self.text_head = Head(lm.text_linear, "text_linear")
        self.text_card = int(lm.text_linear.out_features)
        self.noise = Noise(self.text_card, device), Noise(self.depth.card, device)
        """Of text and audio."""

    def forward(self, tokens: Tensor, condition: Tensor | None, past: KVStore, step: KVStep) -> Tensor:
        """tokens int64 [n, n_q + 1], text last; condition [n, dim] -> hidden [n, dim]."""
        x = self.tables.sum(tokens)
        if condition is not None:
            x = x + condition
        return self.out_norm(self.layers(x, past, step))

    def draw(self, hidden: Tensor, text_draw: Pick, audio_draw: Pick) -> tuple[Tensor, Tensor]:
        """hidden [n, dim] -> tokens int64 [n, 1 + dep_q], and a number a row that is finite if all were."""
        logits = self.text_head(hidden)
        tokens = torch.empty(len(hidden), 1 + self.depth.steps, dtype=torch.int64, device=hidden.device)
        text_draw.pick(logits, 0, tokens[:, 0])
        last = self.depth.draw(tokens, hidden, audio_draw)
        return tokens, _total(logits) + _total(last)  # the last book attends to all others


def _total(logits: Tensor) -> Tensor:
    """[n]: not a number, or infinite, where one of the row's logits is."""
    return total(logits.float()[:, :, None])[:, 0]
