"""What is timed: moshi's own single stream (A), the reference runtime (B) and the compact one (C).

All on the same weights in the same process. Refuses to know clocks and tables.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import sentencepiece
import torch
from moshi.models import LMGen, LMModel, MimiModel, loaders
from moshi.utils.compile import no_compile

from audio.frames import FRAME_SAMPLES
from model.capacity.sizes import PUBLISHED
from model.checkpoint import Loaded, load
from model.compact.runtime import CompactRuntime
from model.config import ModelInfo, Sampling
from model.reference import ReferenceRuntime
from model.stopwatch import Stopwatch

Frames = npt.NDArray[np.float32]


class Subject(Protocol):
    """One way to step `rows` sessions."""

    name: str

    def prepare(self, rows: int, frames: int) -> None:
        """Fresh sessions, `frames` old where the subject's cost depends on it."""

    def step(self, frames: Frames) -> tuple[float, float, float]:
        """Steps once. frames: [rows, 1920]. Seconds of encode, language and decode."""


@dataclass
class Single:
    """moshi's LMGen and Mimi for one caller, as moshi.server runs them (moshi/server.py, recv_loop)."""

    loaded: Loaded
    name: str = "A"

    def prepare(self, rows: int, frames: int) -> None:
        del frames
        if rows != 1:
            raise ValueError("moshi.server holds one session")
        stop_streaming(self.loaded)
        lm, mimi = self.loaded.lm, self.loaded.mimi
        self._gen = LMGen(lm, condition_tensors=self.loaded.condition_tensors(1))
        self._user_books = lm.n_q - lm.dep_q
        mimi.streaming_forever(1)
        self._gen.streaming_forever(1)

    def step(self, frames: Frames) -> tuple[float, float, float]:
        """On a CPU without what moshi would compile: that takes a compiler, and minutes."""
        with torch.no_grad(), no_compile() if self.loaded.info.device == "cpu" else nullcontext():
            return self._step(frames)

    def _step(self, frames: Frames) -> tuple[float, float, float]:
        device = torch.device(self.loaded.lm.device)
        watch = Stopwatch(device)
        codes = self.loaded.mimi.encode(torch.from_numpy(frames)[None].to(device))
        watch.lap()
        tokens = self._gen.step(codes[:, : self._user_books])
        watch.lap()
        if tokens is not None:
            self.loaded.mimi.decode(tokens[:, 1:]).cpu()
        watch.lap()
        encode, language, decode = watch.laps_s()
        return encode, language, decode


class Batched:
    """A runtime of ours, with room for `capacity` sessions."""

    def __init__(self, name: str, runtime: CompactRuntime | ReferenceRuntime) -> None:
        self.name = name
        self.runtime = runtime

    def prepare(self, rows: int, frames: int) -> None:
        self._rows = range(rows)
        if isinstance(self.runtime, CompactRuntime):
            self.runtime.pretend(rows, frames)
            return
        for row in self._rows:
            self.runtime.join(row, self.runtime.info.sampling)

    def step(self, frames: Frames) -> tuple[float, float, float]:
        output = self.runtime.step(self._rows, frames)
        return output.encode_s, output.lm_s, output.decode_s


def reference(loaded: Loaded, capacity: int) -> Batched:
    """B. The checkpoint's modules hold its state: only one of A and B may be in use at a time."""
    stop_streaming(loaded)
    tensors = loaded.condition_tensors(capacity)
    return Batched("B", ReferenceRuntime(loaded.mimi, loaded.lm, loaded.info, capacity, tensors))


def compact(loaded: Loaded, capacity: int) -> Batched:
    """C."""
    tensors = loaded.condition_tensors(capacity)
    return Batched("C", CompactRuntime(loaded.mimi, loaded.lm, loaded.info, capacity, tensors))


def stop_streaming(loaded: Loaded) -> None:
    """Lets go of the state that moshi's modules hold."""
    loaded.mimi._stop_streaming()
    loaded.lm._stop_streaming()


def noise(rows: int, seed: int = 0) -> Frames:
    """Quiet noise, float32 [rows, 1920]."""
    drawn: Frames = np.random.default_rng(seed).standard_normal((rows, FRAME_SAMPLES), np.float32)
    return drawn * np.float32(0.05)


def open_subject(name: str, device: str, dtype: torch.dtype) -> Loaded:
    """A checkpoint, or random weights of a published shape: right for time and memory, not for words."""
    if name not in PUBLISHED:
        return load(name, device, dtype)
    config: dict[str, Any] = loaders._lm_kwargs | PUBLISHED[name]
    lm: LMModel = loaders.get_moshi_lm(None, config, device=device, dtype=dtype)
    mimi: MimiModel = loaders.get_mimi(None, None, device=device, num_codebooks=max(8, config["dep_q"]))
    for book in (mimi.quantizer.rvq_first, mimi.quantizer.rvq_rest):
        for layer in book.vq.layers:
            layer._codebook.embedding_sum.normal_()  # they start at zero
    info = ModelInfo(name, "random", False, device, str(dtype), max(lm.delays), int(lm.context), Sampling())
    return Loaded(info, mimi, lm, sentencepiece.SentencePieceProcessor(), "moshi")
