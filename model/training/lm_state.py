"""A language-model run as it stands: weights, their running average, the optimisers, the step.

Saved whole or not at all. Refuses to know the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from model.config import ModelError
from model.training import run_files
from model.training.files import write_whole
from model.training.lm_learner import LmLearner

CHECKPOINT = "lm.pt"
VERSION = 2
MATRICES = "lm.transformer.layers."
"""Weights of two dimensions below here are learned by Muon (Jordan et al. 2024), in steps as large as Adam's
(Moonlight, arXiv 2502.16982), all else by AdamW."""
EMBEDDING_RATE = 0.2
"""Of the learning rate: what the codes sound like is known already."""
AVERAGE_WARM = 50


@dataclass(slots=True)
class LmState:
    learner: LmLearner
    average: dict[str, Tensor]
    optimisers: tuple[torch.optim.Optimizer, ...]
    config: dict[str, Any]
    step: int = 0

    def rate(self) -> float:
        """The learning rate's factor: a rise, then half a cosine down to `last_rate`."""
        s = self.learner.settings
        done = min(1.0, self.step / s.steps)
        fall = s.last_rate + (1 - s.last_rate) * 0.5 * (1 + math.cos(math.pi * done))
        return min(1.0, (self.step + 1) / s.warm_steps) * fall

    def follow(self) -> None:
        """Moves the average towards the weights, closely at first."""
        kept = self.learner.settings.average
        run_files.follow(self.average, self.learner, kept, self.step, AVERAGE_WARM)

    def keep(self, path: Path) -> None:
        content = {
            "version": VERSION,
            "config": self.config,
            "learner": self.learner.state_dict(),
            "average": self.average,
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "step": self.step,
        }
        write_whole(path, lambda file: torch.save(content, file))


def begin(learner: LmLearner, config: dict[str, Any]) -> LmState:
    """A run before its first step."""
    return LmState(learner, run_files.weights_of(learner), _optimisers(learner), config)


def resume(path: Path, learner: LmLearner, config: dict[str, Any]) -> LmState:
    """The run as it was kept. Raises ModelError for a file that is no such checkpoint."""
    content = read_checkpoint(path)
    if content["config"] != config:
        raise ModelError(f"{path} is of a model of another shape; move it away to begin anew")
    learner.load_state_dict(content["learner"])
    state = LmState(learner, content["average"], _optimisers(learner), config, content["step"])
    for optimiser, kept in zip(state.optimisers, content["optimisers"], strict=True):
        optimiser.load_state_dict(kept)
    return state


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Raises ModelError."""
    return run_files.read_checkpoint(path, "a language model's", VERSION)


def _optimisers(learner: LmLearner) -> tuple[torch.optim.Optimizer, ...]:
    """No decay on vectors and embeddings; those of the codes learn slowly."""
    s = learner.settings
    named = dict(learner.named_parameters())
    matrices = [name for name, value in named.items() if name.startswith(MATRICES) and value.dim() == 2]
    codes = [name for name in named if name.startswith("lm.emb.")]
    others = [name for name in named if name not in matrices and name not in codes]
    still = [name for name in others if named[name].squeeze().dim() < 2 or "emb" in name]
    rest = [name for name in others if name not in still]
    groups = [
        {"params": [named[name] for name in codes], "weight_decay": 0.0, "share": EMBEDDING_RATE},
        {"params": [named[name] for name in still], "weight_decay": 0.0, "share": 1.0},
        {"params": [named[name] for name in rest], "weight_decay": s.weight_decay, "share": 1.0},
    ]
    hidden = [{"params": [named[name] for name in matrices], "share": 1.0}]
    return (
        torch.optim.AdamW(groups, lr=s.peak_rate, betas=s.betas, fused=True),
        torch.optim.Muon(hidden, lr=s.peak_rate, weight_decay=s.weight_decay, adjust_lr_fn="match_rms_adamw"),
    )
