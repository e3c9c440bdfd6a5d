"""What the engine asks of a runtime: a batch of rows that join and step. A contract, no code.

Two kinds keep it: `reference` (moshi's own modules) and `compact` (ours).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from model.config import ModelInfo, Sampling


@dataclass(frozen=True, slots=True)
class StepOutput:
    """One step's answer, a row for each stepped slot, in the order asked.

    pcm: float32 [n, 1920]; zeros for a row still below the model's lag.
    tokens: int64 [n, 1 + dep_q], the text token then the audio codebooks; -1 below the lag.
    finite: bool [n]; False where the model produced NaN or Inf.
    encode_s, lm_s, decode_s: seconds in each part.
    """

    pcm: npt.NDArray[np.float32]
    tokens: npt.NDArray[np.int64]
    finite: npt.NDArray[np.bool_]
    encode_s: float
    lm_s: float
    decode_s: float


class Runtime(Protocol):
    """Rows of independent sessions. Only one thread calls it."""

    info: ModelInfo
    capacity: int

    def join(self, slot: int, sampling: Sampling) -> None:
        """Makes the row as new: nothing of an earlier owner can reach the next one."""

    def step(self, slots: Sequence[int], frames: npt.NDArray[np.float32]) -> StepOutput:
        """Steps these rows and no others. frames: float32 [n, 1920], row i for slots[i]."""

    def prepare(self) -> None:
        """Makes every size of batch ready, so that no session waits for the first step of its size.

        Before the first session, as `measure`.
        """

    def measure(self, rows: int) -> float:
        """Seconds of a step of so many rows whose contexts are full, the best of a few.

        Before the first session: what it leaves in the rows is gone when they join. On a CPU it counts
        the thread's own time, so that a busy machine does not look like a slow one.
        """
