"""How the codec is trained: stages, learning rates and weights. Defaults live here. Pure.

Evidence for the order: joint training before the codes are frozen, each stage with its own decay,
the decoder alone last (measured: a word error rate of 0.23 after joint stages, 0.09 after the
decoder's own, at equal time). The last two stages go on from there with four times as many users and the
teacher. All together about an hour and a quarter on one core.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from model.config import ModelError

WARM_STEPS = 100
LAST_RATE = 0.03
"""Of the peak: where the cosine ends."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A run of steps with one schedule.

    agent_crops, user_crops: per step. decay_from: the part of the steps before the cosine starts.
    bypass_steps: without quantiser at first; then the codebooks start from k-means.
    unquantised: the chance that a crop skips the quantiser, until `quantised_from` of the steps.
    answers_share: of the agent's crops, how many come from its answers rather than from open sentences.
    user_sound: whether users are decoded to sound, or only to log-mels (a third of the cost).
    decoder_only: the codes are kept as they are, and only what makes sound of them learns.
    """

    name: str
    steps: int
    agent_crops: int
    user_crops: int
    peak_rate: float
    decay_from: float
    bypass_steps: int = 0
    unquantised: float = 0.1
    quantised_from: float = 0.6
    waveform: float = 0.02
    teacher: float = 0.5
    answers_share: float = 0.4
    user_sound: bool = True
    decoder_only: bool = False

    def rate(self, step: int) -> float:
        """The learning rate of a step: a warm start, then flat, then half a cosine."""
        warm = min(1.0, (step + 1) / WARM_STEPS)
        part = step / self.steps
        if part <= self.decay_from:
            return self.peak_rate * warm
        fall = (part - self.decay_from) / (1 - self.decay_from)
        return self.peak_rate * (LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * fall)))

    def skip_chance(self, step: int) -> float:
        """How likely a crop skips the quantiser at a step: half of them just after k-means."""
        if step < self.bypass_steps:
            return 1.0
        if self.bypass_steps and step < 1.6 * self.bypass_steps:
            return 0.5
        return self.unquantised if step < self.quantised_from * self.steps else 0.0


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything a codec run depends on but the data."""

    stages: tuple[Stage, ...]
    seed: int = 20261129
    crop_frames: int = 12
    auxiliary: float = 2.0
    commitment: float = 0.1
    weight_decay: float = 1e-4
    betas: tuple[float, float] = (0.8, 0.99)
    average: float = 0.995
    clip: float = 1.5
    """Of the running norm of the gradient."""
    encodings: int = 2
    """How many times each utterance is encoded, each at an offset of its own, for a decoder-only stage."""
    start_batches: int = 80
    """Batches whose latents the codebooks start from."""
    save_every_s: float = 120.0

    def until(self, name: str) -> tuple[Stage, ...]:
        """The stages up to the named one. Raises ModelError for a name that no stage has."""
        names = [stage.name for stage in self.stages]
        if name not in names:
            raise ModelError(f"--until must be one of {', '.join(names)}, not {name!r}")
        return self.stages[: names.index(name) + 1]


RECIPE = Recipe(
    stages=(
        Stage("joint", 1800, 2, 2, 2e-3, decay_from=0.7, bypass_steps=320, quantised_from=0.7, waveform=0.1),
        Stage("joint-agent", 1800, 2, 1, 1.2e-3, decay_from=0.4),
        Stage("decoder", 5000, 3, 0, 1.2e-3, decay_from=0.4, decoder_only=True, teacher=0.0),
        Stage("joint-again", 7000, 2, 3, 1e-3, decay_from=0.3, teacher=1.0, user_sound=False),
        Stage(
            "decoder-again",
            5600,
            3,
            0,
            1e-3,
            decay_from=0.3,
            decoder_only=True,
            teacher=0.0,
            answers_share=0.6,
        ),
    )
)
