"""Playing sounds through rows of a runtime, for the laws of a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from moshi.modules.transformer import RingKVCache

from audio.frames import FRAME_SAMPLES
from model.checkpoint import Loaded
from model.compact.kv import KVStore
from model.compact.runtime import CompactRuntime
from model.config import Sampling
from model.reference import ReferenceRuntime
from model.runtime import Runtime

Frames = npt.NDArray[np.float32]
Build = Callable[[Loaded, int], Runtime]
GREEDY = Sampling(text_temperature=0.0, audio_temperature=0.0)


def sound(seed: int, frames: int) -> Frames:
    """float32 [frames, 1920]: a loud and a quiet stretch in turn, different for every seed."""
    rng = np.random.default_rng(seed)
    loudness = 0.02 + 0.2 * (np.sin(np.arange(frames) * 0.9 + seed) > 0)
    noise: Frames = rng.standard_normal((frames, FRAME_SAMPLES), np.float32)
    noise *= loudness.astype(np.float32)[:, None]
    return noise


def build_reference(loaded: Loaded, capacity: int) -> ReferenceRuntime:
    """One at a time may use a checkpoint's modules: they hold the streaming state."""
    loaded.mimi._stop_streaming()
    loaded.lm._stop_streaming()
    return ReferenceRuntime(loaded.mimi, loaded.lm, loaded.info, capacity, loaded.condition_tensors(capacity))


def build_compact(loaded: Loaded, capacity: int) -> CompactRuntime:
    return CompactRuntime(loaded.mimi, loaded.lm, loaded.info, capacity, loaded.condition_tensors(capacity))


def build_padded(loaded: Loaded, capacity: int) -> CompactRuntime:
    """As on CUDA: padded batches, and a context of two pages and a bit."""
    return CompactRuntime(
        loaded.mimi,
        loaded.lm,
        loaded.info,
        capacity,
        loaded.condition_tensors(capacity),
        padded=True,
        page_frames=10,
    )


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


def step(runtime: Runtime, calls: list[Call]) -> None:
    """One step of these calls' next frames."""
    output = runtime.step([c.slot for c in calls], np.stack([c.next_frame for c in calls]))
    for i, call in enumerate(calls):
        call.tokens.append(output.tokens[i].tolist())
        call.pcm.append(output.pcm[i].copy())
        call.finite.append(bool(output.finite[i]))


def play(runtime: Runtime, call: Call) -> Call:
    """The whole call, alone in the batch."""
    runtime.join(call.slot, call.sampling)
    while not call.done:
        step(runtime, [call])
    return call


def poison(runtime: Runtime, slot: int) -> None:
    """NaN wherever a row's past is kept."""
    poison_past(runtime, slot)
    if isinstance(runtime, CompactRuntime):
        for direction in (runtime.codec.encoder, runtime.codec.decoder):
            direction.state[slot] = torch.nan
            wreck(direction.stack.past, slot)
        return
    assert isinstance(runtime, ReferenceRuntime)
    for module in (runtime._mimi, runtime._gen.lm_model):
        for state in module.get_streaming_state().values():
            for value in vars(state).values():
                if isinstance(value, RingKVCache):
                    value.cache[:, slot] = torch.nan
                elif isinstance(value, torch.Tensor) and value.is_floating_point():
                    value[slot] = torch.nan


def wreck(past: KVStore, slot: int) -> None:
    """NaN in every page that a slot holds."""
    past._pages[:, :, past._held(slot)] = torch.nan


def poison_past(runtime: Runtime, slot: int) -> None:
    """NaN in the language model's keys and values of a row, which has been through one frame."""
    if isinstance(runtime, CompactRuntime):
        wreck(runtime.past, slot)
        return
    assert isinstance(runtime, ReferenceRuntime)
    for state in runtime._gen.lm_model.get_streaming_state().values():
        if isinstance(getattr(state, "kv_cache", None), RingKVCache):
            state.kv_cache.cache[:, slot] = torch.nan
