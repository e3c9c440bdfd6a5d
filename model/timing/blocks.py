"""Timing several subjects fairly: short blocks in turn, so that a machine's moods meet all of them.

Refuses to know what a step does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from model.timing.subjects import Subject, noise

BLOCKS = 4
WARM_STEPS = 3


@dataclass(slots=True)
class Timed:
    """One subject at one number of sessions. Lists hold seconds, an entry a step.

    capacity: rows there is room for. frames: age of every session. own: of the thread itself, without
    what it waited while other programs had the processor; on CUDA what the host needs.
    """

    subject: str
    sessions: int
    capacity: int
    frames: int
    steps: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    parts: list[tuple[float, float, float]] = field(default_factory=list)

    def ms(self, quantile: float) -> float:
        return 1000 * float(np.quantile(self.steps, quantile))

    def part_ms(self, part: int) -> float:
        return 1000 * float(np.median([parts[part] for parts in self.parts]))

    @property
    def own_ms(self) -> float:
        return 1000 * float(np.median(self.own))

    @property
    def host_ms(self) -> float:
        """What a step takes beside its three parts."""
        return 1000 * float(np.median([s - sum(p) for s, p in zip(self.steps, self.parts, strict=True)]))


def interleave(
    subjects: Sequence[tuple[Subject, Timed]], steps: int, clock: Callable[[], float] = time.perf_counter
) -> Iterator[Timed]:
    """A, B, C, A, B, C: BLOCKS blocks each, `steps` timed steps in all. Yields each one when done."""
    each = max(1, steps // BLOCKS)
    for _ in range(BLOCKS):
        for subject, timed in subjects:
            _block(subject, timed, each, clock)
    for _, timed in subjects:
        yield timed


def _block(subject: Subject, timed: Timed, steps: int, clock: Callable[[], float]) -> None:
    frames = noise(timed.sessions)
    subject.prepare(timed.sessions, timed.frames)
    for _ in range(WARM_STEPS):
        subject.step(frames)
    for _ in range(steps):
        began, own_began = clock(), time.thread_time()
        parts = subject.step(frames)
        timed.steps.append(clock() - began)
        timed.own.append(time.thread_time() - own_began)
        timed.parts.append(parts)
