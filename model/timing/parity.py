"""Whether the compact runtime still answers what the reference answers: the gate before any figure.

First whole calls: the same sound, each runtime hearing what it drew itself. Then, of the language model
alone, every layer on the same given tokens: of the model, and of the published layouts with small
dimensions. `python -m model parity` prints a line each, every layer where one differs, and fails then.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from moshi.models import LMModel

from model.capacity.sizes import PUBLISHED
from model.checkpoint import DEFAULT, Loaded, load
from model.compact.refusals import Unsupported
from model.config import ModelError, Sampling
from model.timing.forced import PartDifference, compare_forced
from model.timing.layouts import small
from model.timing.subjects import compact, noise, reference, stop_streaming

ROWS = 3
PCM_MOST = 1e-5
FORCED_FRAMES = 40


@dataclass(frozen=True)
class ParityOptions:
    """What the command line can change."""

    model: str = DEFAULT
    frames: int = 100


@dataclass(frozen=True, slots=True)
class Verdict:
    """tokens: how many were compared. differing: how many of them differ. pcm: largest difference."""

    tokens: int
    differing: int
    pcm: float

    @property
    def holds(self) -> bool:
        return self.differing == 0 and self.pcm <= PCM_MOST

    def told(self) -> str:
        outcome = "holds" if self.holds else "is broken"
        return (
            f"parity {outcome}: {self.differing} of {self.tokens} tokens differ,"
            f" sound by at most {self.pcm:.1e}"
        )


def compare(loaded: Loaded, frames: int) -> Verdict:
    """Float32 on the CPU: greedy and drawn rows that pause at random. Raises Unsupported."""
    subjects = reference(loaded, ROWS).runtime, compact(loaded, ROWS).runtime
    for row in range(ROWS):
        drawn = Sampling(seed=row) if row else Sampling(text_temperature=0.0, audio_temperature=0.0)
        for runtime in subjects:
            runtime.join(row, drawn)
    rng = random.Random(1)
    tokens, differing, pcm = 0, 0, 0.0
    for n in range(frames):
        rows = [row for row in range(ROWS) if row == 0 or rng.random() < 0.8]
        expected, found = (runtime.step(rows, noise(len(rows), seed=n)) for runtime in subjects)
        tokens += expected.tokens.size
        differing += int((expected.tokens != found.tokens).sum())
        pcm = max(pcm, float(np.abs(expected.pcm - found.pcm).max()))
    return Verdict(tokens, differing, pcm)


def add_command(subparsers: Any) -> None:
    """Gives the parser the subcommand and its defaults."""
    parser = subparsers.add_parser("parity", help="compare the two runtimes", description=__doc__)
    parser.add_argument("--model", default=ParityOptions.model)
    parser.add_argument("--frames", type=int, default=ParityOptions.frames)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> None:
    try:
        loaded = load(given.model, "cpu", torch.float32)
        verdict = compare(loaded, given.frames)
        print(verdict.told(), flush=True)
        holds = [verdict.holds]
        for name, lm in _layered(given.model, loaded):
            differences = compare_forced(lm, FORCED_FRAMES)
            print(told(name, differences), flush=True)
            holds += [difference.holds for difference in differences]
    except (ModelError, Unsupported) as error:
        print(f"model: {error}", file=sys.stderr)
        sys.exit(2)
    sys.exit(not all(holds))


def _layered(name: str, loaded: Loaded) -> Iterator[tuple[str, LMModel]]:
    """What is compared layer by layer. A conditioned model's layers are not."""
    stop_streaming(loaded)
    if loaded.lm.fuser is None:
        yield name, loaded.lm
    for layout in PUBLISHED:
        yield f"the layout of {layout}, small", small(layout)


def told(name: str, differences: Sequence[PartDifference]) -> str:
    """One line where all layers hold, else one for each."""
    if all(difference.holds for difference in differences):
        worst = max(differences, key=lambda difference: difference.most / difference.scale)
        choices = sum(difference.choices for difference in differences)
        return (
            f"teacher-forced, {name}: {len(differences)} parts agree, the likeliest of {choices} tokens too;"
            f" the worst is {worst.part}, by {worst.most:.1e} where numbers reach {worst.scale:.1f}"
        )
    lines = [f"  {'  ' if difference.holds else '! '}{difference.told()}" for difference in differences]
    return "\n".join([f"teacher-forced, {name}: parts differ", *lines])
