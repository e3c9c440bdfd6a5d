"""Many embedding tables as one, so that a token of every codebook is looked up in one operation.

Refuses to know what the tokens mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from model.compact.products import total
from model.compact.refusals import refuse_if


class JoinedTables:
    """Tables of equal width laid one after the other: [sum of cards, width].

    A plain table's own module is made a view of the joined one, so that nothing is kept twice.
    """

    def __init__(self, modules: Sequence[Any]) -> None:
        for module in modules:
            refuse_if(module.demux_second_stream, "demux_second_text_stream")
        self.table = torch.cat([_plain(module) for module in modules])
        cards = [module.num_embeddings for module in modules]
        firsts = torch.tensor([0, *cards[:-1]], device=self.table.device).cumsum(0)
        self.firsts: Tensor = firsts
        self.each = torch.split(self.table, cards)
        for module, table in zip(modules, self.each, strict=True):
            if module.norm is None and module.low_rank is None:
                module.weight.data = table

    def sum(self, tokens: Tensor) -> Tensor:
        """tokens int64 [n, tables], one of each table -> the sum of their rows [n, width]."""
        n = tokens.shape[0]
        rows = self.table.index_select(0, (tokens + self.firsts).flatten())
        return total(rows.view(n, -1, self.table.shape[1]))

    def row(self, which: int, tokens: Tensor) -> Tensor:
        """tokens int64 [n] of one table -> [n, width]."""
        return self.each[which].index_select(0, tokens)


def _plain(module: Any) -> Tensor:
    """The rows a module answers with, whatever norm or low-rank factor it applies."""
    if module.norm is None and module.low_rank is None:
        weight: Tensor = module.weight.detach()
        return weight
    with torch.no_grad():
        rows: Tensor = module(torch.arange(module.num_embeddings, device=module.weight.device))
    return rows
