"""A model's sizes, part by part, from its own configuration: no weights are read.

Refuses to know machines and money.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from moshi.models import LMModel, MimiModel, loaders
from torch import nn

from model.checkpoint import resolve
from model.compact.codec import Codec
from model.compact.kv import Slots, past_bytes
from model.compact.language import TEMPORAL
from model.compact.layers import read_stack
from model.compact.products import PACKED_NUMBERS
from model.unfilled import Unfilled

PUBLISHED: dict[str, dict[str, int]] = {"moshi-7b": {}, "personaplex-7b": {"dep_q": 16, "n_q": 16}}
"""Shapes that can be asked for without a checkpoint, as changes of moshi's own (loaders._lm_kwargs)."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the language model. reads: whether all of it is read at every step."""

    name: str
    parameters: int
    reads: bool


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes, unless said otherwise.

    parts: the language model's. kv_frame: keys and values of one frame of one session. context: frames.
    codec: Mimi's weights, as they are read every step. codec_state: of one session. packed: weights in 32
    bits are read in 16, which is what a checkpoint's have (`model.compact.kernels.weights`).
    """

    name: str
    parts: tuple[Part, ...]
    itemsize: int
    kv_frame: int
    context: int
    codec: int
    codec_all: int
    codec_state: int
    packed: bool = False

    @property
    def weights(self) -> int:
        return self.itemsize * sum(part.parameters for part in self.parts) + self.codec_all

    @property
    def read(self) -> int:
        """Of weights, at every step, whoever is in it."""
        return sum(self.read_of(part) for part in self.parts) + self.codec

    def read_of(self, part: Part) -> int:
        """Of a part, at every step; single rows do not count."""
        return part.parameters * self.read_itemsize if part.reads else 0

    @property
    def read_itemsize(self) -> int:
        return self.itemsize // 2 if self.packed else self.itemsize

    def session(self, frames: int) -> int:
        """What a session holds after so many frames."""
        return self.codec_state + self.kv_frame * min(frames, self.context)


def sizes_of(name: str, itemsize: int) -> Sizes:
    """Reads a checkpoint's configuration, or takes a published shape. Raises ModelError, Unsupported."""
    if name in PUBLISHED:
        config: dict[str, Any] = loaders._lm_kwargs | PUBLISHED[name]
        mimi = loaders.get_mimi(None, None, num_codebooks=_books(config))
    else:
        files = resolve(name)
        config = files.lm_config or loaders._lm_kwargs
        mimi = loaders.get_mimi(None, files.mimi_config, num_codebooks=_books(config))
    return _measured(name, _empty(config), mimi, itemsize)


def _books(config: dict[str, Any]) -> int:
    """How many of Mimi's the model hears or writes."""
    return max(int(config["dep_q"]), int(config["n_q"]) - int(config["dep_q"]))


def _empty(config: dict[str, Any]) -> LMModel:
    """The language model without memory for its weights."""
    config = {key: value for key, value in config.items() if key not in ("lora", "conditioners", "fuser")}
    with Unfilled():
        return loaders.get_moshi_lm(None, config, device="meta", dtype=torch.bfloat16)


def _measured(name: str, lm: LMModel, mimi: MimiModel, itemsize: int) -> Sizes:
    stack = read_stack(lm.transformer, TEMPORAL)
    heard = max(1, lm.n_q - lm.dep_q)
    codec = Codec(mimi, Slots(1), min(heard, mimi.total_codebooks), min(lm.dep_q, mimi.total_codebooks))
    quantizer = mimi.quantizer
    networks = [part for name, part in mimi.named_children() if name != "quantizer"]
    packed = itemsize == 4 and _largest(lm) <= PACKED_NUMBERS
    return Sizes(
        name,
        tuple(_parts(lm)),
        itemsize,
        past_bytes(stack, itemsize) // int(stack.context or 1),
        int(stack.context or 0),
        (2 if packed else 4) * (_count(networks) + heard * quantizer.cardinality * quantizer.dimension),
        4 * (_count([mimi]) + sum(buffer.numel() for buffer in mimi.buffers())),
        codec.session_bytes,
        packed,
    )


def _parts(lm: LMModel) -> Iterable[Part]:
    yield Part("temporal transformer", _count([lm.transformer, lm.out_norm]), reads=True)
    yield Part("text head", _count([lm.text_linear]), reads=True)
    yield Part("embeddings", _count([*lm.emb, lm.text_emb]), reads=False)
    yield Part("depformer", _count([lm.depformer, lm.depformer_norms]), reads=True)
    yield Part("depformer inputs and heads", _count([*lm.depformer_in, *lm.linears]), reads=True)
    yield Part("depformer embeddings", _count([*lm.depformer_emb, lm.depformer_text_emb]), reads=False)


def _largest(lm: LMModel) -> int:
    """Numbers of the largest matrix."""
    largest: int = max(parameter.numel() for parameter in lm.transformer.parameters())
    return largest


def _count(modules: Iterable[nn.Module]) -> int:
    return sum(parameter.numel() for module in modules for parameter in module.parameters())
