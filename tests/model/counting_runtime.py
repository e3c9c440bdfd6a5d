"""A small real runtime: each row counts its frames and answers with what it heard plus the count.

It can be told to fail: a step, a row's numbers, or the taking in of a session. Steps can be held
back, so that a test decides what arrives while one is under way.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from model.config import ModelInfo, Sampling
from model.runtime import StepOutput

INFO = ModelInfo("counting", "0" * 64, False, "cpu", "float32", 1, 100, Sampling())


class CountingRuntime:
    """Row r's n-th answer is 1000 x the seed it joined with + n; below the lag it is silent."""

    info = INFO

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.steps: list[list[int]] = []
        self.fail_steps = 0
        self.seconds_a_row = 0.0
        self.nan_rows: set[int] = set()
        self.fail_joins = False
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self._seed = [0] * capacity
        self._count = [0] * capacity

    def join(self, slot: int, sampling: Sampling) -> None:
        if self.fail_joins:
            raise RuntimeError("no joins")
        self._seed[slot], self._count[slot] = sampling.seed, 0

    def prepare(self) -> None:
        """Nothing to make ready."""

    def measure(self, rows: int) -> float:
        return self.seconds_a_row * rows

    def step(self, slots: Sequence[int], frames: npt.NDArray[np.float32]) -> StepOutput:
        self.entered.set()
        assert self.gate.wait(60)
        self.steps.append(list(slots))
        if self.fail_steps:
            self.fail_steps -= 1
            raise RuntimeError("the step broke")
        n = len(slots)
        pcm, tokens = np.zeros_like(frames), np.full((n, 2), -1, np.int64)
        for i, slot in enumerate(slots):
            if self._count[slot] >= INFO.lag_frames:
                pcm[i] = frames[i] + 1000 * self._seed[slot] + self._count[slot]
                tokens[i] = self._count[slot] % 5
            self._count[slot] += 1
        finite = np.array([slot not in self.nan_rows for slot in slots])
        return StepOutput(pcm, tokens, finite, 0.0, 0.0, 0.0)


class Letters:
    """Token n is the n-th piece; 0 is padding."""

    pieces = (None, "\u2581a", "b", "<0xC3>", "<0xA9>")

    def piece(self, token: int) -> str | None:
        return self.pieces[token]
