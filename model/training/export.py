"""Writes a codec in the layout that moshi's loaders take: mimi.safetensors and mimi.json, in bfloat16.

Rounding moves some codes: whatever is measured or trained on the codec sees the rounded one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from model.training.files import write_whole

WEIGHTS = "mimi.safetensors"
LM_WEIGHTS = "model.safetensors"
CONFIG = "mimi.json"
PREFIX = "codec."


def export(weights: dict[str, Tensor], config: dict[str, Any], folder: Path) -> None:
    """From a learner's weights; its heads are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {name.removeprefix(PREFIX): value for name, value in weights.items() if name.startswith(PREFIX)}
    write_whole(folder / WEIGHTS, lambda file: file.write(save(rounded(kept))))
    write_whole(folder / CONFIG, lambda file: file.write(json.dumps(config, indent=2).encode()))


def rounded(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Floating values in bfloat16, the others as they are."""
    return {
        name: (value.to(torch.bfloat16) if value.dtype.is_floating_point else value)
        .detach()
        .cpu()
        .contiguous()
        for name, value in weights.items()
    }
