"""The reference runtime: moshi's own streaming modules, many rows, each at its own offset.

It steps the full batch with an execution mask: what a masked row computes is thrown away and its
state stays. It is the oracle that faster runtimes must match and the baseline they must beat.
Refuses to know sessions, threads and checkpoints' files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from moshi.models import LMGen, LMModel, MimiModel
from moshi.modules.transformer import RingKVCache
from moshi.utils.compile import no_compile
from torch import Tensor

from audio.frames import FRAME_SAMPLES
from model.config import ModelInfo, Sampling
from model.runtime import StepOutput
from model.sampler import BatchSampler
from model.stopwatch import Stopwatch, best_of


class SampledLMGen(LMGen):  # type: ignore[misc]  # moshi is untyped
    """moshi's generation loop, drawing with our sampler in both of its places.

    Text: moshi offers the logits to a hook just before its own (greedy) draw; the hook leaves only
    our token standing. Audio: the depth loop is a method, replaced here.
    """

    def __init__(self, lm: LMModel, sampler: BatchSampler, condition_tensors: Any) -> None:
        super().__init__(
            lm,
            use_sampling=False,
            support_out_of_sync=True,  # else one session's join costs every session a frame
            condition_tensors=condition_tensors,
            on_text_logits_hook=self._leave_only_our_text_token,
        )
        self._sampler = sampler
        self.finite = torch.ones(sampler.rows, dtype=torch.bool, device=lm.device)
        """bool [B]: this step's logits were numbers. A draw from NaN would look like any token."""

    def _leave_only_our_text_token(self, logits: Tensor) -> None:
        """logits: [B, 1, 1, text_card], overwritten."""
        rows = logits[:, 0, 0]
        self.finite.copy_(torch.isfinite(rows).all(dim=-1))
        token = self._sampler.pick_text(rows)
        rows.fill_(-torch.inf).scatter_(1, token[:, None], 0.0)

    def depformer_step(self, text_token: Tensor, transformer_out: Tensor) -> Tensor:
        """text_token int64 [B], transformer_out [B, 1, dim] -> audio tokens int64 [B, dep_q]."""
        lm = self.lm_model
        noise = self._sampler.audio_noise()
        token, tokens = text_token, []
        with lm.depformer.streaming(text_token.shape[0]):
            for codebook in range(lm.dep_q):
                logits = lm.forward_depformer(codebook, token[:, None, None], transformer_out)
                token = self._sampler.pick_audio(logits[:, 0, 0], noise[:, codebook])
                tokens.append(token)
        self.finite &= torch.isfinite(logits[:, 0, 0]).all(dim=-1)  # the last book attends to all others
        return torch.stack(tokens, dim=1)


class ReferenceRuntime:
    """Keeps `model.runtime.Runtime`. mimi float32 as loaded; lm in its own dtype."""

    def __init__(
        self, mimi: MimiModel, lm: LMModel, info: ModelInfo, capacity: int, condition_tensors: Any = None
    ) -> None:
        self.info = info
        self.capacity = capacity
        self._device = torch.device(lm.device)
        self._mimi = mimi
        self._user_books = lm.n_q - lm.dep_q
        self._agent_books = lm.dep_q
        self._sampler = BatchSampler(capacity, (_text_card(lm), lm.card), lm.dep_q, self._device)
        self._gen = SampledLMGen(lm, self._sampler, condition_tensors)
        self._frames = np.zeros(capacity, np.int64)  # frames each row has stepped since it joined
        mimi.set_num_codebooks(max(self._user_books, self._agent_books))
        mimi.streaming_forever(capacity)
        self._gen.streaming_forever(capacity)

    @staticmethod
    def session_bytes(mimi: MimiModel, lm: LMModel) -> int:
        """What one session's state takes, measured on a batch of one."""
        total = 0
        with mimi.streaming(1), lm.streaming(1):
            for module in (mimi, lm):
                for state in module.get_streaming_state().values():
                    total += sum(t.nbytes for t in _tensors_of(state))
        return total

    @torch.no_grad()
    def join(self, slot: int, sampling: Sampling) -> None:
        """Resets the row everywhere and wipes what moshi's own reset only hides.

        A key or value left behind is masked, but 0 x NaN is NaN: one broken session would
        poison the next owner of its slot.
        """
        mask = torch.zeros(self.capacity, dtype=torch.bool, device=self._device)
        mask[slot] = True
        self._mimi.reset_streaming(mask)
        self._gen.reset_streaming(mask)
        for cache in self._caches():
            cache[:, slot] = 0
        self._gen._streaming_state.cache[slot] = self._gen.lm_model.ungenerated_token_id
        self._frames[slot] = 0
        self._sampler.set_row(
            slot,
            sampling.seed,
            (sampling.text_temperature, sampling.audio_temperature),
            (sampling.text_top_k, sampling.audio_top_k),
        )

    @torch.no_grad()
    def step(self, slots: Sequence[int], frames: npt.NDArray[np.float32]) -> StepOutput:
        """See `Runtime.step`.

        A row's first frame is not encoded: moshi's language model never sees its codes (its start
        tokens stand there), and the encoder must begin with the second (moshi/server.py does the
        same by a reset). Rows below the lag are not decoded: they have no codes yet.
        """
        with self._compiling():
            return self._step(np.asarray(slots), frames)

    def prepare(self) -> None:
        """Nothing: every step is of the whole batch."""

    def measure(self, rows: int) -> float:
        """See `Runtime.measure`. Contexts play no part: it always attends to all of its ring."""
        for slot in range(rows):
            self.join(slot, self.info.sampling)
        silence = np.zeros((rows, FRAME_SAMPLES), np.float32)
        return best_of(lambda: self.step(range(rows), silence), self.info.lag_frames, self._device)

    def _step(self, rows: npt.NDArray[Any], frames: npt.NDArray[np.float32]) -> StepOutput:
        watch = Stopwatch(self._device)
        heard = self._mask(rows[self._frames[rows] > 0])
        stepped = self._mask(rows)
        spoken_rows = self._frames[rows] >= self.info.lag_frames
        codes = self._encode(rows, frames, heard)
        watch.lap()
        self._gen.set_exec_mask(stepped)
        self._sampler.begin()
        tokens = self._gen.step(codes[:, : self._user_books])[..., 0]
        self._sampler.advance(rows)
        watch.lap()
        pcm = self._decode(tokens, self._mask(rows[spoken_rows]))
        watch.lap()
        self._frames[rows] += 1
        return self._output(rows, spoken_rows, pcm, tokens, watch)

    def _compiling(self) -> AbstractContextManager[None]:
        """moshi compiles some small functions; on a CPU that would need a C++ compiler at run time."""
        return nullcontext() if self._device.type == "cuda" else no_compile()

    def _encode(self, rows: npt.NDArray[Any], frames: npt.NDArray[np.float32], heard: Tensor) -> Tensor:
        """Returns codes int64 [capacity, books, 1]; a row that is not heard gets some valid code."""
        pcm = np.zeros((self.capacity, 1, FRAME_SAMPLES), np.float32)
        pcm[rows, 0] = frames
        self._mimi.set_exec_mask(heard)
        codes: Tensor = self._mimi.encode(torch.from_numpy(pcm).to(self._device))
        return codes

    def _decode(self, tokens: Tensor, spoken: Tensor) -> Tensor:
        """tokens int64 [capacity, 1 + dep_q] -> pcm float32 [capacity, 1920]."""
        self._mimi.set_exec_mask(spoken)
        codes = tokens[:, 1:].clamp(min=0)  # -2 where a row has nothing: out of the codebook's range
        pcm: Tensor = self._mimi.decode(codes[:, :, None])
        return pcm[:, 0]

    def _output(
        self,
        rows: npt.NDArray[Any],
        spoken: npt.NDArray[np.bool_],
        pcm: Tensor,
        tokens: Tensor,
        watch: Stopwatch,
    ) -> StepOutput:
        """Fetches the stepped rows; what a silent row decoded from nothing is not its output."""
        pcm_rows = pcm.cpu().numpy()[rows]
        token_rows = tokens.cpu().numpy()[rows]
        pcm_rows[~spoken] = 0
        token_rows[~spoken] = -1
        finite = self._gen.finite.cpu().numpy()[rows] & np.isfinite(pcm_rows).all(axis=1)
        return StepOutput(pcm_rows, token_rows, finite, *watch.laps_s())

    def _mask(self, rows: npt.NDArray[Any]) -> Tensor:
        mask = torch.zeros(self.capacity, dtype=torch.bool)
        mask[torch.from_numpy(rows)] = True
        return mask.to(self._device)

    def _caches(self) -> Iterator[Tensor]:
        """Every key-value cache, [2, capacity, heads, context, dim]."""
        for module in (self._mimi, self._gen.lm_model):
            for state in module.get_streaming_state().values():
                cache = getattr(state, "kv_cache", None)
                if isinstance(cache, RingKVCache):
                    yield cache.cache


def _tensors_of(state: Any) -> Iterator[Tensor]:
    for value in vars(state).values():
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, RingKVCache):
            yield value.cache


def _text_card(lm: LMModel) -> int:
    """How many text tokens it chooses from, which may be fewer than it reads."""
    return int(lm.text_linear.out_features)
