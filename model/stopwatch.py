"""Laps of one step, on the device's own clock. Refuses to know what is timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch

TIMED_STEPS = 4


class Stopwatch:
    """Starts when made; `lap()` marks; `laps_s()` reads, once the device has finished.

    On CUDA the marks are events in the stream, so that marking does not wait for the GPU.
    """

    def __init__(self, device: torch.device) -> None:
        self._cuda = device.type == "cuda"
        self._events: list[Any] = []  # torch leaves its events untyped
        self._times: list[float] = []
        self.lap()

    def lap(self) -> None:
        if self._cuda:
            event: Any = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
            event.record()
            self._events.append(event)
        else:
            self._times.append(time.perf_counter())

    def laps_s(self) -> list[float]:
        """Seconds between successive marks. On CUDA: call after the results were fetched."""
        if self._cuda:
            self._events[-1].synchronize()
            return [a.elapsed_time(b) / 1000 for a, b in pairwise(self._events)]
        return [b - a for a, b in pairwise(self._times)]


def best_of(step: Callable[[], object], idle_steps: int, device: torch.device) -> float:
    """Seconds of the quickest of TIMED_STEPS steps, after `idle_steps` that do not count.

    On a CPU with one thread it is the thread's own time: a busy machine is not a slow one.
    """
    own = device.type == "cpu" and torch.get_num_threads() == 1
    clock = time.thread_time if own else time.perf_counter
    for _ in range(idle_steps + 1):
        step()
    seconds = []
    for _ in range(TIMED_STEPS):
        began = clock()
        step()
        seconds.append(clock() - began)
    return min(seconds)
