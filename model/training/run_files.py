"""What every training run's checkpoint has in common: reading one, and the running average it keeps.

Refuses to know what is trained.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from model.config import ModelError


def read_checkpoint(path: Path, of: str, version: int, device: str = "cpu") -> dict[str, Any]:
    """of: whose run it is, for the error. Raises ModelError for a file that is no such checkpoint."""
    try:
        content: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    except Exception as error:  # torch raises many kinds for a file that is not its own
        raise ModelError(f"{path} is not a checkpoint of {of} run: {error}") from error
    if content.get("version") != version:
        raise ModelError(f"{path} is a checkpoint of version {content.get('version')}, not {version}")
    return content


def weights_of(learner: nn.Module) -> dict[str, Tensor]:
    """A copy: where an average begins."""
    return {name: value.clone() for name, value in learner.state_dict().items()}


def follow(average: dict[str, Tensor], learner: nn.Module, kept: float, step: int, warm: int) -> None:
    """Moves the average towards the weights, closely in the first `warm` steps; integers are taken over."""
    weight = 1 - min(kept, (step + 1) / (step + warm))
    with torch.no_grad():
        for name, value in learner.state_dict().items():
            if value.dtype.is_floating_point:
                average[name].lerp_(value, weight)
            else:
                average[name].copy_(value)
