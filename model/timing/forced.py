"""Both runtimes' language models on the same given tokens, compared layer by layer.

Where greedy tokens part, this tells the layer in which the numbers did. Neither side hears what it
drew itself, so one difference is not carried into the next frame. Refuses to know sound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import torch
from moshi.models import LMModel
from moshi.utils.compile import no_compile
from torch import Tensor

from model.compact.feed import Feed
from model.compact.kv import KVStep, KVStore, Slots
from model.compact.language import Language
from model.compact.layers import Stack
from model.compact.stacks import Layers

RELATIVE_MOST = 1e-4
"""Of a part's largest number. Float32 sums in another order differ by about a millionth."""
TEXT, AUDIO = "text logits", "audio logits"


@dataclass(slots=True)
class Notes:
    """What every part put out, by its name, a tensor [numbers] each time it ran."""

    parts: dict[str, list[Tensor]] = field(default_factory=dict)

    def add(self, part: str, output: Tensor) -> None:
        self.parts.setdefault(part, []).append(output.detach().flatten().clone())


@dataclass(frozen=True, slots=True)
class PartDifference:
    """most: largest difference. scale: the largest number. choices, same: of logits, how many were
    compared, and how often both runtimes' likeliest token was the same."""

    part: str
    most: float
    scale: float
    choices: int
    same: int

    @property
    def holds(self) -> bool:
        return self.most <= RELATIVE_MOST * self.scale and self.same == self.choices

    def told(self) -> str:
        chosen = f", likeliest token the same in {self.same} of {self.choices}" if self.choices else ""
        return f"{self.part}: differs by at most {self.most:.1e} (numbers up to {self.scale:.1f}){chosen}"


class Runs(Protocol):
    """One side: it notes what its parts make of a frame's given tokens."""

    def frame(self, tokens: Tensor, drawn: Tensor) -> None:
        """tokens int64 [1 + n_q], heard, text first. drawn int64 [1 + dep_q], what it is to have drawn."""


def compare_forced(lm: LMModel, frames: int, seed: int = 1) -> list[PartDifference]:
    """Float32, random tokens, past the end of the context where `frames` is. In the order of the parts.

    Raises Unsupported.
    """
    if lm.fuser is not None:
        raise ValueError("a conditioned model is not compared layer by layer")
    notes = Notes(), Notes()
    rng = np.random.default_rng(seed)
    with torch.inference_mode(), no_compile(), _reference(lm, notes[0]) as theirs:
        ours = _Compact(lm, notes[1])
        for _ in range(frames):
            heard, drawn = _random(rng, lm, lm.n_q), _random(rng, lm, lm.dep_q)
            for side in (theirs, ours):
                side.frame(heard, drawn)
    return [_difference(part, notes[0].parts[part], notes[1].parts[part]) for part in notes[0].parts]


def _random(rng: np.random.Generator, lm: LMModel, books: int) -> Tensor:
    text = rng.integers(lm.text_linear.out_features)
    return torch.from_numpy(np.array([text, *rng.integers(lm.card, size=books)], np.int64))


def _difference(part: str, theirs: list[Tensor], ours: list[Tensor]) -> PartDifference:
    a, b = (torch.stack(tensors).float() for tensors in (theirs, ours))
    logits = part in (TEXT, AUDIO)
    same = int((a.argmax(-1) == b.argmax(-1)).sum()) if logits else 0
    return PartDifference(part, float((a - b).abs().max()), float(a.abs().max()), len(a) * logits, same)


@contextmanager
def _reference(lm: LMModel, notes: Notes) -> Iterator[Runs]:
    """moshi's own modules, listened to at every layer."""
    hooks = [
        layer.register_forward_hook(lambda _m, _i, output, part=part: notes.add(part, output))
        for part, layer in _named_layers(lm)
    ]
    lm._stop_streaming()
    try:
        with lm.streaming(1):
            yield _Moshi(lm, notes)
    finally:
        for hook in hooks:
            hook.remove()


def _named_layers(lm: LMModel) -> Iterable[tuple[str, Any]]:
    for what, stack in (("temporal", lm.transformer), ("depformer", lm.depformer)):
        for i, layer in enumerate(stack.layers):
            yield f"{what} layer {i}", layer


@dataclass(frozen=True)
class _Moshi:
    lm: LMModel
    notes: Notes

    def frame(self, tokens: Tensor, drawn: Tensor) -> None:
        hidden, text = self.lm.forward_text(tokens[None, :, None])
        self.notes.add(TEXT, text)
        with self.lm.depformer.streaming(1):
            for step in range(self.lm.dep_q):
                logits = self.lm.forward_depformer(step, drawn[step].view(1, 1, 1), hidden)
                self.notes.add(AUDIO, logits)


class _Compact:
    """The compact runtime's language model, each layer wrapped in one that notes."""

    def __init__(self, lm: LMModel, notes: Notes) -> None:
        self._notes = notes
        self._language = language = Language(lm, torch.device("cpu"))
        plan = Slots(1).plan(language.stack, lm.text_emb.weight)
        self._past = KVStore(language.stack, 1, 1, plan, lm.text_emb.weight)
        language.layers = _NotingLayers(language, notes)
        language.depth.stack = _noting(language.depth.stack, "depformer", notes)
        self._feed = Feed({"rows": (1,)} | self._past.shapes(1), {}, torch.device("cpu"))
        self._frames = 0

    def frame(self, tokens: Tensor, drawn: Tensor) -> None:
        self._past.fill(self._feed.host, np.zeros(1, np.int64), np.array([self._frames]))
        self._frames += 1
        step = self._past.begin(self._feed, self._past.span(self._feed.host))
        hidden = self._language.forward(tokens.roll(-1)[None], None, self._past, step)
        text, audio = (
            _Given(self._notes, part, given) for part, given in ((TEXT, drawn), (AUDIO, drawn[1:]))
        )
        self._language.draw(hidden, text, audio)


@dataclass(frozen=True)
class _Given:
    """In place of a draw: notes the logits and takes the given token."""

    notes: Notes
    part: str
    tokens: Tensor

    def pick(self, logits: Tensor, book: int, token: Tensor) -> None:
        self.notes.add(self.part, logits)
        token.copy_(self.tokens[book])


class _NotingLayers(Layers):
    """Goes through the layers one by one."""

    def __init__(self, language: Language, notes: Notes) -> None:
        self._notes = notes
        self._each = [
            Layers(
                replace(language.stack, layers=(layer,), sine=0.0 if i else language.stack.sine),
                language.layers.positions,
                first=i,
            )
            for i, layer in enumerate(language.stack.layers)
        ]

    def __call__(self, x: Tensor, past: KVStore, step: KVStep) -> Tensor:
        for i, layer in enumerate(self._each):
            x = layer(x, past, step)
            self._notes.add(f"temporal layer {i}", x)
        return x


def _noting(stack: Stack, what: str, notes: Notes) -> Stack:
    layers: Any = tuple(_Noting(layer, f"{what} layer {i}", notes) for i, layer in enumerate(stack.layers))
    return replace(stack, layers=layers)


class _Noting:
    def __init__(self, layer: Any, part: str, notes: Notes) -> None:
        self._layer, self._part, self._notes = layer, part, notes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._layer, name)

    def finish(self, *args: Any) -> Tensor:
        output: Tensor = self._layer.finish(*args)
        self._notes.add(self._part, output)
        return output
