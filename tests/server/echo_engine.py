"""The real engine on a small real runtime: each session hears itself one frame late, and a word now and then.

It can be told to fail a session, to fail everybody, or to hold a step back until a test lets it go.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from audio.frames import Samples, silence
from model.config import ModelInfo, Sampling
from model.engine import Engine, StepReport
from model.runtime import StepOutput

WORD_EVERY = 5
"""Frame 5, 10, ... says a word; every second one is a continuation without a space."""
INFO = ModelInfo("echo", "e" * 64, False, "cpu", "float32", 1, 250, Sampling())


class EchoRuntime:
    """Rows of echoes. fail_slots: rows whose output is not finite. seeds: of the sessions that joined."""

    def __init__(self, capacity: int) -> None:
        self.info = INFO
        self.capacity = capacity
        self.fail_slots: set[int] = set()
        self.fail_joins = False
        self.gate = threading.Event()
        self.gate.set()
        self.seeds: list[int] = []
        self._last: list[Samples] = [silence()] * capacity
        self._count = [0] * capacity

    def join(self, slot: int, sampling: Sampling) -> None:
        if self.fail_joins:
            raise RuntimeError("no joins")
        self.seeds.append(sampling.seed)
        self._last[slot], self._count[slot] = silence(), 0

    def prepare(self) -> None:
        """Nothing to make ready."""

    def measure(self, rows: int) -> float:
        del rows
        return 0.0

    def step(self, slots: Sequence[int], frames: npt.NDArray[np.float32]) -> StepOutput:
        assert self.gate.wait(60)
        pcm, tokens = np.zeros_like(frames), np.full((len(slots), 2), -1, np.int64)
        for i, slot in enumerate(slots):
            count = self._count[slot]
            pcm[i] = self._last[slot]
            if count >= INFO.lag_frames:
                tokens[i] = 0 if count % WORD_EVERY else 1 + count // WORD_EVERY % 2
            self._last[slot], self._count[slot] = frames[i].copy(), count + 1
        finite = np.array([slot not in self.fail_slots for slot in slots])
        return StepOutput(pcm, tokens, finite, 0.0, 0.0, 0.0)


class Words:
    """Token 0 is padding."""

    def piece(self, token: int) -> str | None:
        return (None, "echo", "\u2581hello")[token]


def put_out_of_sight() -> None:
    """Before an engine is started: it searches the process for garbage, and a process full of tests and
    libraries is long to search. What the test before left is searched; the rest is looked at no more."""
    gc.collect(1)
    gc.freeze()


def echo_engine(runtime: EchoRuntime, on_step: Callable[[StepReport], None]) -> Engine:
    put_out_of_sight()
    return Engine(runtime, Words(), on_step)
