"""A codec run as it stands: weights, their running average, the optimiser, and where it is.

Saved whole or not at all, so that a killed run goes on from its last checkpoint. Refuses to know
the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from model.training import run_files
from model.training.files import write_whole
from model.training.learner import Learner
from model.training.recipe import Recipe, Stage
from model.training.shape import MIMI_CONFIG, fresh_codec

CHECKPOINT = "codec.pt"
VERSION = 1
AVERAGE_WARM = 20
"""Steps: the average follows closely at first."""
NORM_KEPT = 0.98
NORM_JUMP = 3.0


@dataclass(slots=True)
class RunState:
    """stage: index into the recipe's stages. step: steps done in it."""

    learner: Learner
    average: dict[str, Tensor]
    optimiser: torch.optim.Optimizer
    config: dict[str, Any]
    stage: int = 0
    step: int = 0
    norm: float | None = None
    history: list[str] = field(default_factory=list)

    def keep(self, path: Path) -> None:
        """Writes the checkpoint. Between stages the average is all there is to keep."""
        inside = self.step > 0
        content = {
            "version": VERSION,
            "config": self.config,
            "learner": self.learner.state_dict() if inside else None,
            "average": self.average,
            "optimiser": self.optimiser.state_dict() if inside else None,
            "checks": [layer._next_unused_check for layer in self.learner.layers()],
            "stage": self.stage,
            "step": self.step,
            "norm": self.norm,
            "history": self.history,
        }
        write_whole(path, lambda file: torch.save(content, file))

    def follow(self, kept: float) -> None:
        """Moves the average towards the weights; integers are taken over."""
        run_files.follow(self.average, self.learner, kept, self.step, AVERAGE_WARM)

    def restart_average(self) -> None:
        self.average = run_files.weights_of(self.learner)

    def clip(self, factor: float) -> bool:
        """Clips the gradient at `factor` times its running norm; False when it is not finite."""
        most = factor * self.norm if self.norm else math.inf
        norm = float(torch.nn.utils.clip_grad_norm_(self.learner.parameters(), most))
        if not math.isfinite(norm):
            return False
        self.norm = norm if self.norm is None else _blend(self.norm, min(norm, NORM_JUMP * self.norm))
        return True


def begin(recipe: Recipe, features: int, device: str, config: dict[str, Any] = MIMI_CONFIG) -> RunState:
    """A run before its first step."""
    learner = Learner(fresh_codec(recipe.seed, config), features).to(device)
    state = RunState(learner, {}, make_optimiser(learner, recipe.stages[0], recipe), config)
    state.restart_average()
    return state


def resume(path: Path, recipe: Recipe, features: int, device: str) -> RunState:
    """The run as it was kept. Raises ModelError for a file that is no such checkpoint."""
    content = run_files.read_checkpoint(path, "a codec", VERSION, device)
    state = begin(recipe, features, device, content["config"])
    state.learner.load_state_dict(content["learner"] or content["average"])
    state.average = content["average"]
    state.stage, state.step, state.norm = content["stage"], content["step"], content["norm"]
    state.history = content["history"]
    if state.stage < len(recipe.stages):
        state.optimiser = make_optimiser(state.learner, recipe.stages[state.stage], recipe)
        if state.step:
            state.optimiser.load_state_dict(content["optimiser"])
    for layer, check in zip(state.learner.layers(), content["checks"], strict=True):
        layer._next_unused_check = check
    return state


def next_stage(state: RunState, recipe: Recipe) -> None:
    """Goes on from the averaged weights, with a fresh optimiser."""
    state.history.append(f"{recipe.stages[state.stage].name}: {state.step} steps")
    state.stage += 1
    state.step = 0
    state.norm = None
    state.learner.load_state_dict(state.average)
    for layer in state.learner.layers():
        layer.register_buffer("_embedding", None, persistent=False)
    if state.stage < len(recipe.stages):
        state.optimiser = make_optimiser(state.learner, recipe.stages[state.stage], recipe)


def make_optimiser(learner: Learner, stage: Stage, recipe: Recipe) -> torch.optim.Optimizer:
    for value in learner.parameters():
        value.requires_grad_(False)
        value.grad = None  # what the last stage left must not count in this one's norm
    learned = learner.learned(stage)
    for value in learned:
        value.requires_grad_(True)
    return torch.optim.AdamW(
        learned, lr=stage.peak_rate, betas=recipe.betas, weight_decay=recipe.weight_decay
    )


def _blend(before: float, now: float) -> float:
    return NORM_KEPT * before + (1 - NORM_KEPT) * now
