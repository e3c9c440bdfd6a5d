"""Playing sounds through rows of a runtime, for the laws of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from audio.frames import FRAME_SAMPLES
from model.checkpoint import Loaded
from model.config import Sampling
from model.reference import ReferenceRuntime

Frames = npt.NDArray[np.float32]
GREEDY = Sampling(text_temperature=0.0, audio_temperature=0.0)


def sound(seed: int, frames: int) -> Frames:
    """float32 [frames, 1920]: a loud and a quiet stretch in turn, different for every seed."""
    rng = np.random.default_rng(seed)
    loudness = 0.02 + 0.2 * (np.sin(np.arange(frames) * 0.9 + seed) > 0)
    noise: Frames = rng.standard_normal((frames, FRAME_SAMPLES), np.float32)
    noise *= loudness.astype(np.float32)[:, None]
    return noise


def build(loaded: Loaded, capacity: int) -> ReferenceRuntime:
    return ReferenceRuntime(loaded.mimi, loaded.lm, loaded.info, capacity)


@dataclass
class Call:
    """One session on a row: its sound, how far it is, and what came back."""

    slot: int
    frames: Frames
    sampling: Sampling = GREEDY
    tokens: list[list[int]] = field(default_factory=list)
    pcm: list[Frames] = field(default_factory=list)
    finite: list[bool] = field(default_factory=list)

    @property
    def next_frame(self) -> Frames:
        frame: Frames = self.frames[len(self.tokens)]
        return frame

    @property
    def done(self) -> bool:
        return len(self.tokens) == len(self.frames)


def step(runtime: ReferenceRuntime, calls: list[Call]) -> None:
    """One step of these calls' next frames."""
    output = runtime.step([c.slot for c in calls], np.stack([c.next_frame for c in calls]))
    for i, call in enumerate(calls):
        call.tokens.append(output.tokens[i].tolist())
        call.pcm.append(output.pcm[i].copy())
        call.finite.append(bool(output.finite[i]))


def play(runtime: ReferenceRuntime, call: Call) -> Call:
    """The whole call, alone in the batch."""
    runtime.join(call.slot, call.sampling)
    while not call.done:
        step(runtime, [call])
    return call
