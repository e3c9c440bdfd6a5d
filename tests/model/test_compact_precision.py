"""Numbers are as precise as the model's own: not less because of a caller, nor of a quicker formula."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from model.checkpoint import Loaded
from model.compact.layers import read_stack
from tests.model.rows import GREEDY, build_compact, sound
from tests.model.shapes import make


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_caller_s_autocast_changes_no_runtime_and_no_step(loaded: Loaded, dtype: torch.dtype) -> None:
    plain = build_compact(loaded, 1)
    with torch.autocast("cpu", dtype=dtype):
        cast = build_compact(loaded, 1)
    for runtime in (plain, cast):
        runtime.join(0, GREEDY)
    for frame in sound(3, 6):
        expected = plain.step([0], frame[None])
        with torch.autocast("cpu", dtype=dtype):
            found = cast.step([0], frame[None])
            assert torch.is_autocast_enabled("cpu")
        assert (found.tokens == expected.tokens).all()
        assert (found.pcm == expected.pcm).all()
        assert found.finite.tolist() == [True]


def test_a_step_recorded_outside_an_autocast_is_the_same_within(loaded: Loaded) -> None:
    plain, cast = build_compact(loaded, 1), build_compact(loaded, 1)
    for runtime in (plain, cast):
        runtime.join(0, GREEDY)
    for n, frame in enumerate(sound(4, 6)):
        expected = plain.step([0], frame[None])
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=n > 3):
            found = cast.step([0], frame[None])
        assert (found.tokens == expected.tokens).all()
        assert (found.pcm == expected.pcm).all()


def test_gelu_in_half_the_bits_is_rounded_once() -> None:
    """As torch rounds it, and with it the reference."""
    lm = make(gating="none", hidden_scale=4).lm.to(torch.bfloat16)
    stack = read_stack(lm.transformer, "transformer")
    block = stack.layers[0].feed[0]
    x = torch.randn(4, stack.dim, generator=torch.Generator().manual_seed(1)).to(torch.bfloat16)
    with torch.no_grad():
        expected = F.gelu(F.linear(x, lm.transformer.layers[0].linear1.weight))
        assert torch.equal(block.hidden(x), expected)
