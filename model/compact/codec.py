"""Mimi over the ready rows: one frame of sound to codes, and codes to one frame of sound.

Each direction is its own, with its own state and its own count of frames a row has been through: a
new session listens before it speaks. Refuses to know the language model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from audio.frames import FRAME_SAMPLES
from model.compact.convolutions import Convolution, Flow, StateLayout, Transposed
from model.compact.feed import Feed, Host, Ints, Shape
from model.compact.kv import KVStep, KVStore, Slots, ring_of
from model.compact.layers import read_stack, weight_of
from model.compact.positions import Positions
from model.compact.products import Matrix
from model.compact.quantizer import Quantizer
from model.compact.refusals import refuse_if
from model.compact.seanet import SeaNet
from model.compact.sound import sound_kernels
from model.compact.stacks import Layers

Steps = Sequence[Callable[[Tensor, Flow], Tensor]]


class ProjectedStack:
    """Mimi's transformer (moshi ProjectedTransformer) with its past."""

    def __init__(self, module: Any, slots: Slots, tokens: int, what: str) -> None:
        refuse_if(module is None, f"{what}: none")
        refuse_if(len(module.output_projs) != 1, f"{what}: several outputs")
        self._stack = read_stack(module.transformer, what)
        short = ring_of(self._stack) < tokens
        refuse_if(short, f"{what}: context {self._stack.context}, at least the {tokens} tokens of a frame")
        weight = self._stack.layers[0].qkv[0].weight
        self.device = weight.device
        self._layers = Layers(self._stack, Positions(self._stack, weight.device))
        plan = slots.plan(self._stack, weight)
        self.past = KVStore(self._stack, slots.count, tokens, plan, weight)
        self._input = _projection(module.input_proj, what)
        self._output = _projection(module.output_projs[0], what)

    def __call__(self, x: Tensor, step: KVStep) -> Tensor:
        """[n, tokens, dim] -> [n, tokens, dim]."""
        n, tokens = x.shape[0], x.shape[1]
        x = _apply(self._input, x.reshape(n * tokens, -1))
        return _apply(self._output, self._layers(x, self.past, step)).view(n, tokens, -1)


class Direction:
    """What encoder and decoder have in common: the state of every slot, and the way through the layers.

    before, after: the steps in front of the transformer and behind it. layout: of what they keep.
    """

    time: int
    """Of what comes in."""

    def __init__(
        self, before: Steps, stack: ProjectedStack, after: Steps, layout: StateLayout, slots: Slots
    ) -> None:
        self.stack = stack
        self.state = torch.zeros(slots.count, layout.size, dtype=torch.float32, device=stack.device)
        parts = (before, self.time), (after, stack.past.tokens)
        self._kernels = [] if slots.few_shapes else sound_kernels(parts, self.state)
        fused = bool(self._kernels)  # then the steps' own weights are not kept
        self._before, self._after = ((), ()) if fused else (before, after)
        self._gathered = self.state[:0] if fused else torch.zeros_like(self.state)
        self._flows: dict[int, Flow] = {}

    @property
    def session_bytes(self) -> int:
        return self.state[0].nbytes + self._gathered[:1].nbytes + self.stack.past.bytes_per_page

    def reset(self, slot: int) -> None:
        self.state[slot] = 0
        self.stack.past.reset(slot)

    def shapes(self, n: int) -> dict[str, Shape]:
        return {"rows": (n,)} | self.stack.past.shapes(n)

    def fill(self, host: Host, rows: Ints, frames: Ints) -> None:
        """frames: how many frames each row has been through in this direction."""
        host["rows"][:] = rows
        self.stack.past.fill(host, rows, frames)

    def _through(self, x: Tensor, feed: Feed, span: int) -> Tensor:
        """x [n, time, channels] in and out."""
        step = self.stack.past.begin(feed, span)
        rows, position = feed.device["rows"], feed.device["position"]
        if self._kernels:
            before, after = self._kernels
            return after(self.stack(before(x, rows, position), step), rows, position)
        flow = self._gather(rows, position)
        for convolution in self._before:
            x = convolution(x, flow)
        x = self.stack(x, step)
        for convolution in self._after:
            x = convolution(x, flow)
        self.state.index_copy_(0, rows, flow.state)
        return x

    def _gather(self, rows: Tensor, position: Tensor) -> Flow:
        """The rows' state in a memory of their number."""
        n = len(rows)
        if n not in self._flows:
            self._flows[n] = Flow(self._gathered[:n])
        flow = self._flows[n]
        torch.index_select(self.state, 0, rows, out=flow.state)
        torch.eq(position[:, None, None], 0, out=flow.first)
        return flow


class Encoder(Direction):
    """Sound to codes. Reads a moshi MimiModel. Raises Unsupported."""

    time = FRAME_SAMPLES

    def __init__(self, mimi: Any, slots: Slots) -> None:
        layout = StateLayout()
        convolutions = SeaNet(mimi.encoder.model, layout, "Mimi's encoder")
        down = getattr(mimi, "downsample", None)
        after = [] if down is None else [Convolution(down.conv, layout, "Mimi's downsampling")]
        tokens = tokens_per_frame(mimi)
        stack = ProjectedStack(mimi.encoder_transformer, slots, tokens, "Mimi's encoder transformer")
        super().__init__(convolutions.steps, stack, after, layout, slots)

    def latent(self, sound: Tensor, feed: Feed, span: int) -> Tensor:
        """sound float32 [n, 1920] -> latent [n, dim]."""
        return self._through(sound[:, :, None], feed, span)[:, 0]


class Decoder(Direction):
    """Codes to sound. Reads a moshi MimiModel. Raises Unsupported."""

    time = 1

    def __init__(self, mimi: Any, slots: Slots) -> None:
        layout = StateLayout()
        up = getattr(mimi, "upsample", None)
        before = [] if up is None else [Transposed(up.convtr, layout, "Mimi's upsampling")]
        tokens = tokens_per_frame(mimi)
        stack = ProjectedStack(mimi.decoder_transformer, slots, tokens, "Mimi's decoder transformer")
        convolutions = SeaNet(mimi.decoder.model, layout, "Mimi's decoder")
        super().__init__(before, stack, convolutions.steps, layout, slots)

    def sound(self, latent: Tensor, feed: Feed, span: int) -> Tensor:
        """latent [n, dim] -> sound float32 [n, 1920]."""
        return self._through(latent[:, None], feed, span)[:, :, 0]


class Codec:
    """Both directions and the codebooks between them. heard, spoken: books of the user and the agent."""

    def __init__(self, mimi: Any, slots: Slots, heard: int, spoken: int) -> None:
        refuse_if(mimi.frame_size != FRAME_SAMPLES, f"Mimi's frames of {mimi.frame_size} samples")
        refuse_if(mimi.resample_method != "conv", f"Mimi's resampling {mimi.resample_method}")
        self.encoder = Encoder(mimi, slots)
        self.decoder = Decoder(mimi, slots)
        self.quantizer = Quantizer(mimi.quantizer, heard, spoken)

    @property
    def session_bytes(self) -> int:
        """What one session's state takes in both directions."""
        return self.encoder.session_bytes + self.decoder.session_bytes


def tokens_per_frame(mimi: Any) -> int:
    """Steps of Mimi's transformers in one frame."""
    return int(round(mimi.encoder_frame_rate / mimi.frame_rate))


def _projection(module: Any, what: str) -> Matrix | None:
    if module is None or isinstance(module, nn.Identity):
        return None
    return Matrix(weight_of(module, f"{what} projection"))


def _apply(projection: Matrix | None, x: Tensor) -> Tensor:
    return x if projection is None else projection.times(x)
