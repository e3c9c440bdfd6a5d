"""Whether every token that a model can write has a row in every table that it is looked up in.

Kernels read where a token says, and ask nothing: what could lead them astray is refused beforehand.
Refuses to know how tables are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from model.compact.refusals import refuse_if


def refuse_strays(lm: Any, mimi: Any) -> None:
    """Raises Unsupported, with the most that is allowed."""
    heard = lm.emb[lm.dep_q :]
    written, bins = int(lm.text_linear.out_features), int(mimi.quantizer.cardinality)
    _bound("text_card_out", written, "the text tables' rows", (lm.text_emb, lm.depformer_text_emb))
    _bound("Mimi's bins", bins, "the audio tables' rows", heard)
    refuse_if(lm.card > bins, f"card {lm.card}: above Mimi's bins, {bins} at most")


def _bound(what: str, tokens: int, rows: str, tables: Iterable[Any]) -> None:
    most = min((int(table.num_embeddings) for table in tables), default=tokens)
    refuse_if(tokens > most, f"{what} {tokens}: above {rows}, {most} at most")
