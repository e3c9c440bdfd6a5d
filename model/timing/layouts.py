"""The published architectures with small dimensions and random weights, for comparing runtimes.

Every configuration key that changes the architecture is as published; only sizes are not. Refuses to
know what is compared.
"""

from __future__ import annotations

from typing import Any

import torch
from moshi.models import LMModel, loaders

from model.capacity.sizes import PUBLISHED

_SMALL: dict[str, int] = {
    "dim": 64,
    "text_card": 96,
    "card": 64,
    "num_heads": 4,
    "num_layers": 4,
    "context": 24,
    "depformer_dim": 48,
    "depformer_dim_feedforward": 198,
    "depformer_num_heads": 4,
    "depformer_num_layers": 3,
}
NORM_SPREAD = 0.3
"""Added to norms' gains, which start at one: one left out would not show."""


def small(name: str, seed: int = 1) -> LMModel:
    """name: of `PUBLISHED`. Float32 on the CPU. The global generator is left as it was."""
    config: dict[str, Any] = loaders._lm_kwargs | PUBLISHED[name] | _SMALL
    if len(config["delays"]) != 1 + config["n_q"]:
        config["delays"] = [0, *[0, *[1] * (config["dep_q"] - 1)] * (config["n_q"] // config["dep_q"])]
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        lm: LMModel = loaders.get_moshi_lm(None, config, device="cpu", dtype=torch.float32)
        for part, parameter in lm.named_parameters():
            if "norm" in part:
                parameter.add_(NORM_SPREAD * torch.randn_like(parameter))
    return lm
