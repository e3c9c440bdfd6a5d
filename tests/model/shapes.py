"""Checkpoints of every shape that moshi's loaders can make, small and random, without a file."""

from __future__ import annotations

from typing import Any

import sentencepiece
import torch
from moshi.models import loaders
from torch import nn

from model import untrained
from model.checkpoint import Loaded
from model.config import ModelInfo, Sampling

BOOKS, CARD = 8, untrained.BINS


def make(
    seed: int = 1, books: int = BOOKS, model_type: str = "moshi", device: str = "cpu", **overrides: Any
) -> Loaded:
    """The untrained recipe's shape with a short context; overrides are config.json's keys.

    Weights that moshi starts at zero or one are moved, so that leaving one out would show.
    """
    config = untrained.LM_CONFIG | {"context": 24, "n_q": 2 * books, "dep_q": books} | overrides
    config.setdefault("delays", [])
    if len(config["delays"]) != 1 + config["n_q"]:
        config["delays"] = [0, *[0, *[1] * (books - 1)] * 2]
    torch.manual_seed(seed)
    with torch.no_grad():
        lm = loaders.get_moshi_lm(None, config, device="cpu", dtype=torch.float32)
        for name, parameter in lm.named_parameters():
            if any(part in name for part in ("norm", "scale", "bias")):
                parameter.add_(0.3 * torch.randn_like(parameter))
        mimi = _mimi(books)
    lm.to(device)
    mimi.to(device)
    info = ModelInfo("made", "0", False, device, "float32", max(lm.delays), lm.context, Sampling())
    return Loaded(info, mimi, lm, sentencepiece.SentencePieceProcessor(), model_type)


def _mimi(books: int) -> Any:
    quantizer = untrained.MIMI_CONFIG["quantizer"] | {"n_q": books}
    mimi = loaders.get_mimi(None, untrained.MIMI_CONFIG | {"quantizer": quantizer}, num_codebooks=books)
    for module in mimi.modules():
        if isinstance(module, nn.Conv1d | nn.ConvTranspose1d):
            nn.init.normal_(module.weight, std=(module.weight[0].numel()) ** -0.5)
    untrained._fill_codebooks(mimi)
    return mimi
