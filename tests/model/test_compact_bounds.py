"""Kernels read and write nothing but what is theirs: what could lead them astray is refused by name."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from weakref import WeakSet

import numpy as np
import pytest
import torch
from moshi.modules.seanet import SEANetResnetBlock
from torch import nn

from model import untrained
from model.checkpoint import Loaded
from model.compact.convolutions import Convolution, StateLayout
from model.compact.products import Matrix
from model.compact.refusals import Unsupported
from model.compact.seanet import SeaNet
from model.compact.sound import sound_kernels
from model.config import Sampling
from tests.model.rows import Build, Call, build_compact, build_padded, build_reference, play, sound
from tests.model.shapes import make

TEXT_ROWS, BINS = untrained.TEXT_CARD + 1, untrained.BINS
WILD = Sampling(seed=3, audio_top_k=0, text_top_k=0, audio_temperature=3.0, text_temperature=3.0)
"""Every token comes up."""


@pytest.fixture
def coarse_default() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    yield
    torch.set_default_dtype(before)


@pytest.mark.usefixtures("coarse_default")
def test_a_product_has_its_own_precision_whatever_torchs_default_is() -> None:
    weight, x = torch.randn(64, 64, dtype=torch.float32), torch.randn(200, 64, dtype=torch.float32)
    y = Matrix(weight).times(x)
    assert y.dtype == torch.float32
    assert torch.allclose(y, x @ weight.t(), atol=1e-4)


def test_a_call_is_the_same_whatever_torchs_default_precision_is(
    loaded: Loaded, request: pytest.FixtureRequest
) -> None:
    expected = play(build_compact(loaded, 2), Call(0, sound(1, 12)))
    request.getfixturevalue("coarse_default")
    found = play(build_compact(loaded, 2), Call(0, sound(1, 12)))
    assert found.tokens == expected.tokens
    assert np.array_equal(np.stack(found.pcm), np.stack(expected.pcm))


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        (
            {"text_card_out": TEXT_ROWS + 1},
            f"text_card_out {TEXT_ROWS + 1}: above the text tables' rows, {TEXT_ROWS} at most",
        ),
        ({"card": BINS + 1}, f"card {BINS + 1}: above Mimi's bins, {BINS} at most"),
        ({"card": BINS - 2}, f"Mimi's bins {BINS}: above the audio tables' rows, {BINS - 1} at most"),
    ],
)
def test_tokens_that_a_table_has_no_row_for_are_refused_with_the_most_it_has(
    shape: dict[str, Any], told: str
) -> None:
    with pytest.raises(Unsupported) as refused:
        build_compact(make(**shape), 1)
    assert str(refused.value) == told


@pytest.mark.parametrize("shape", [{"text_card_out": TEXT_ROWS}, {"card": BINS - 1}])
def test_tokens_up_to_the_last_row_are_answered_as_the_reference_does(shape: dict[str, Any]) -> None:
    loaded = make(**shape)
    expected, found = (
        play(build(loaded, 1), Call(0, sound(1, 12), WILD)) for build in (build_reference, build_compact)
    )
    assert found.tokens == expected.tokens


def test_more_codebooks_than_mimi_has_are_refused() -> None:
    loaded = replace(make(books=16), mimi=make(books=8).mimi)
    with pytest.raises(Unsupported, match="16 codebooks of Mimi's, 8 at most"):
        build_compact(loaded, 1)


@pytest.mark.parametrize("build", [build_compact, build_padded])
def test_a_context_of_mimis_that_holds_no_frame_is_refused(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(untrained.MIMI_CONFIG["transformer"], "context", 1)
    with pytest.raises(Unsupported, match="transformer: context 1, at least the 2 tokens of a frame"):
        build(make(), 1)


def test_a_context_of_mimis_that_holds_one_frame_answers_as_the_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(untrained.MIMI_CONFIG["transformer"], "context", 2)
    loaded = make()
    expected, found = (
        play(build(loaded, 1), Call(0, sound(1, 8))) for build in (build_reference, build_compact)
    )
    assert found.tokens == expected.tokens
    assert np.allclose(np.stack(found.pcm), np.stack(expected.pcm), atol=1e-5)


def test_weights_that_kernels_have_packed_are_not_kept_beside_them(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: WeakSet[Convolution] = WeakSet()
    read = Convolution.__init__

    def counted(convolution: Convolution, *args: Any) -> None:
        kept.add(convolution)
        read(convolution, *args)

    monkeypatch.setattr(Convolution, "__init__", counted)
    runtimes = [build_compact(loaded, 1)]
    gc.collect()
    assert not kept
    runtimes.append(build_padded(loaded, 1))
    gc.collect()
    assert kept


def test_a_block_within_a_block_is_no_kernels() -> None:
    """There is one buffer for what waits to be added."""
    outer, inner = (SEANetResnetBlock(8, causal=True, pad_mode="constant", true_skip=True) for _ in range(2))
    layout, nested = StateLayout(), StateLayout()
    plain = SeaNet([outer], layout, "a block")
    assert len(sound_kernels([(plain.steps, 4)], torch.zeros(1, layout.size))) == 1
    outer.block = nn.Sequential(inner, *outer.block)
    deep = SeaNet([outer], nested, "a block in a block")
    assert sound_kernels([(deep.steps, 4)], torch.zeros(1, nested.size)) == []
