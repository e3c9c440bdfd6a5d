"""Writes a codec in the layout that moshi's loaders take: mimi.safetensors and mimi.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from model.training.files import write_whole

WEIGHTS = "mimi.safetensors"
CONFIG = "mimi.json"
PREFIX = "codec."


def export(
    weights: dict[str, Tensor], config: dict[str, Any], folder: Path, dtype: torch.dtype = torch.float32
) -> None:
    """From a learner's weights; its heads are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {
        name.removeprefix(PREFIX): value.detach().cpu().to(dtype).contiguous()
        for name, value in weights.items()
        if name.startswith(PREFIX)
    }
    write_whole(folder / WEIGHTS, lambda file: file.write(save(kept)))
    write_whole(folder / CONFIG, lambda file: file.write(json.dumps(config, indent=2).encode()))
