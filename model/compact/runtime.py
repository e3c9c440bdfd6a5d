"""The compact runtime: steps only the rows that are ready, each at its own length.

Refuses to know sessions, threads and checkpoints' files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from moshi.models import LMModel, MimiModel
from torch import Tensor

from audio.frames import FRAME_SAMPLES
from model.compact.codec import Codec
from model.compact.delays import DelayedBooks
from model.compact.draw import Sessions
from model.compact.feed import Ints
from model.compact.fused import fuses
from model.compact.kernels.kernel import tell
from model.compact.kv import KVStore, Slots, paged, past_bytes
from model.compact.language import TEMPORAL, Language
from model.compact.launch import GraphLauncher, Launcher, PaddedLauncher, RecordingLauncher, pad
from model.compact.layers import read_stack
from model.compact.ranges import refuse_strays
from model.compact.stages import Hearing, Speaking, Thinking, Tokens
from model.config import ModelInfo, Sampling
from model.runtime import StepOutput
from model.stopwatch import Stopwatch, best_of

PAGE_FRAMES = 128
"""Of the paged store: 10 s."""


class CompactRuntime:
    """Keeps `model.runtime.Runtime`. mimi float32 as loaded; lm in its own dtype.

    Raises Unsupported for a checkpoint it cannot run. Embeddings of `lm` become views of joined ones; of
    other weights there are copies: what is changed in `lm` and `mimi` later must not be expected to count.
    padded: keep to few shapes, as CUDA graphs need; None where the device is one that has them.
    """

    def __init__(
        self,
        mimi: MimiModel,
        lm: LMModel,
        info: ModelInfo,
        capacity: int,
        condition_tensors: Any = None,
        *,
        padded: bool | None = None,
        page_frames: int = PAGE_FRAMES,
    ) -> None:
        self.info, self.capacity = info, capacity
        self._device = torch.device(lm.device)
        padded = self._device.type == "cuda" if padded is None else padded
        slots = Slots(capacity + 1, padded)  # the last one is for padding rows
        with torch.no_grad(), torch.autocast(self._device.type, enabled=False):
            language = Language(lm, self._device)
            refuse_strays(lm, mimi)
            self.codec = Codec(mimi, slots, lm.n_q - lm.dep_q, lm.dep_q)
            condition = _condition_of(lm, condition_tensors, slots.count)
        plan = slots.plan(language.stack, lm.text_emb.weight)
        if padded:
            plan = paged(language.stack, page_frames, 1 + slots.count * -(-plan.page // page_frames))
        self.past = KVStore(language.stack, slots.count, 1, plan, lm.text_emb.weight)
        cards = language.text_card, language.depth.card
        self._sessions = Sessions(slots.count, cards, few_shapes=padded or fuses(language, self.past))
        tokens = Tokens(lm, DelayedBooks(lm.delays, lm.dep_q, slots.count), self._device)
        quantizer = self.codec.quantizer
        self._hearing = Hearing(self.codec.encoder, quantizer, tokens)
        self._thinking = Thinking(language, self.past, tokens, self._sessions, condition)
        self._speaking = Speaking(self.codec.decoder, quantizer, tokens, info.lag_frames)
        self._launcher = _launcher(self._device, capacity, padded)
        self._frames: Ints = np.zeros(slots.count, np.int64)
        self._seen = False
        if padded:
            self.prepare()

    @staticmethod
    @torch.no_grad()
    def session_bytes(mimi: MimiModel, lm: LMModel) -> int:
        """What one session takes once its context is full. Raises Unsupported."""
        codec = Codec(mimi, Slots(1), lm.n_q - lm.dep_q, lm.dep_q)
        return past_bytes(read_stack(lm.transformer, TEMPORAL), lm.dtype.itemsize) + codec.session_bytes

    @torch.no_grad()
    def join(self, slot: int, sampling: Sampling) -> None:
        """Makes the row as new. What it leaves behind of tokens and keys is never read."""
        self.codec.encoder.reset(slot)
        self.codec.decoder.reset(slot)
        self.past.reset(slot)
        self._sessions.set(slot, sampling)
        self._frames[slot] = 0

    @torch.inference_mode()
    def step(self, slots: Sequence[int], frames: npt.NDArray[np.float32]) -> StepOutput:
        """See `Runtime.step`.

        A row's first frame is not encoded (the model never sees its codes) and rows below the lag are
        not decoded (they have none yet), as in `model.reference`. The model's own precision is what
        counts, whatever the caller's `torch.autocast` asks for.
        """
        if torch.is_autocast_enabled(self._device.type):
            with torch.autocast(self._device.type, enabled=False):
                return self.step(slots, frames)
        rows = np.asarray(slots, np.int64)
        past = self._frames[rows]
        watch = Stopwatch(self._device)
        self._hear(rows, past, frames)
        watch.lap()
        tokens, totals = self._think(rows, past)
        watch.lap()
        spoken = past >= self.info.lag_frames
        pcm = self._speak(rows, past) if spoken.all() else self._speak(rows[spoken], past[spoken])
        watch.lap()
        self._frames[rows] += 1
        return self._output(spoken, pcm, tokens, totals, watch)

    def prepare(self) -> None:
        """See `Runtime.prepare`: steps every size of batch at every span once."""
        if self._seen:
            return
        self._seen = True
        for rows in self._launcher.sizes:
            silence = np.zeros((rows, FRAME_SAMPLES), np.float32)
            for frames in self.past.spans:
                self.pretend(rows, frames - 1 - self.info.lag_frames)
                self.step(range(rows), silence)
        tell()

    def measure(self, rows: int) -> float:
        """See `Runtime.measure`."""
        self.prepare()
        self.pretend(rows, self.past.ring)
        silence = np.zeros((rows, FRAME_SAMPLES), np.float32)
        return best_of(lambda: self.step(range(rows), silence), 0, self._device)

    def pretend(self, rows: int, frames: int) -> None:
        """Makes the first rows sessions that are this many frames old and heard nothing but zeros."""
        for slot in range(rows):
            self.join(slot, self.info.sampling)
        self._frames[:rows] = frames + self.info.lag_frames

    def _hear(self, rows: Ints, past: Ints, frames: npt.NDArray[np.float32]) -> None:
        heard = past > 0
        if not heard.all():
            rows, past, frames = rows[heard], past[heard], frames[heard]
        n = len(rows)
        if n:
            feed = self._launcher.feed(self._hearing, n)
            padded = pad((rows, past, frames), self._launcher.size(n), (self.capacity, 1, 0))
            self._launcher.run(self._hearing, feed, self._hearing.fill(feed, *padded), n)

    def _think(self, rows: Ints, past: Ints) -> tuple[Tensor, ...]:
        n = len(rows)
        feed = self._launcher.feed(self._thinking, n)
        padded = pad((rows, past), self._launcher.size(n), (self.capacity, 0))
        return self._launcher.run(self._thinking, feed, self._thinking.fill(feed, *padded), n)

    def _speak(self, rows: Ints, past: Ints) -> Tensor | None:
        n = len(rows)
        if not n:
            return None
        feed = self._launcher.feed(self._speaking, n)
        padded = pad((rows, past), self._launcher.size(n), (self.capacity, self.info.lag_frames))
        (sound,) = self._launcher.run(self._speaking, feed, self._speaking.fill(feed, *padded), n)
        return sound

    def _output(
        self,
        spoken: npt.NDArray[np.bool_],
        pcm: Tensor | None,
        tokens: Tensor,
        totals: Tensor,
        watch: Stopwatch,
    ) -> StepOutput:
        """Fetches the results; rows below the lag are silent. totals: finite where a row's logits are."""
        answer = tokens.cpu().numpy().copy()  # the next run writes over them
        if pcm is not None and len(pcm) == len(spoken):
            sound = pcm.cpu().numpy().copy()
        else:
            sound = np.zeros((len(spoken), FRAME_SAMPLES), np.float32)
            answer[~spoken] = -1
            if pcm is not None:
                sound[spoken] = pcm.cpu().numpy()
        good = np.isfinite(totals.cpu().numpy()) & np.isfinite(sound).all(axis=1)
        return StepOutput(sound, answer, good, *watch.laps_s())


def _launcher(device: torch.device, capacity: int, padded: bool) -> Launcher:
    if device.type == "cuda":
        return GraphLauncher(device, capacity)
    return PaddedLauncher(device, capacity) if padded else RecordingLauncher(device, capacity)


def _condition_of(lm: LMModel, tensors: Any, slots: int) -> Tensor | None:
    """What moshi adds to every input of a conditioned model (LMGen, condition_sum): [slots, dim]."""
    total = None if lm.fuser is None else lm.fuser.get_sum(tensors)
    if total is None:
        return None
    rows: Tensor = total[:, 0].to(lm.dtype)
    return torch.cat([rows, rows[-1:].expand(slots - len(rows), -1)])
