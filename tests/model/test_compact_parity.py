"""The compact runtime answers what the reference answers, token for token, for every shape of model."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch

from model.checkpoint import Loaded
from model.compact import products
from model.compact.refusals import Unsupported
from model.config import Sampling
from model.opening import build_runtime
from model.reference import ReferenceRuntime
from model.runtime import Runtime
from tests.model.rows import Call, build_compact, build_reference, sound, step
from tests.model.shapes import BOOKS, CARD, make

SAMPLINGS = (
    Sampling(text_temperature=0.0, audio_temperature=0.0),
    Sampling(seed=5),
    Sampling(seed=6, text_top_k=0, audio_top_k=3, text_temperature=0.0),
    Sampling(seed=2**40, audio_top_k=0, audio_temperature=1.3),
)
SHAPES: dict[str, dict[str, Any]] = {
    "the 7B layout": {"dim": 64, "num_layers": 3, "depformer_num_layers": 3, "layer_scale": None},
    "PersonaPlex's depth": {"books": 16},
    "plain layers": {
        "norm": "layer_norm",
        "layer_scale": 0.3,
        "positional_embedding": "sin",
        "bias_proj": True,
        "norm_emb": True,
        "depformer_multi_linear": False,
        "gating": "none",
        "depformer_gating": "gelu",
        "depformer_layer_scale": 0.2,
        "hidden_scale": 4,
    },
    "grouped keys": {
        "norm": "rms_norm",
        "kv_repeat": 2,
        "depformer_kv_repeat": 1,
        "positional_embedding": "rope_concat",
        "max_period": 500,
        "depformer_pos_emb": "rope",
        "depformer_norm": "rms_norm_f32",
        "depformer_low_rank_embeddings": 16,
        "depformer_weights_per_step_schedule": [0, 1, 2, 3, 3, 4, 4, 4],
        "text_card_out": 100,
    },
    "long delays": {
        "norm": "layer_norm_f32",
        "positional_embedding": "sin_rope",
        "depformer_pos_emb": "sin",
        "delays": [0, 1, *[3] * (BOOKS - 1), 0, *[2] * (BOOKS - 1)],
        "depformer_weights_per_step_schedule": [0] * BOOKS,
        "gating": "relu",
    },
    "one condition": {
        "model_type": "hibiki",
        "conditioners": {
            "description": {
                "type": "lut",
                "lut": {"n_bins": 8, "dim": 16, "possible_values": ["very_good"], "tokenizer": "noop"},
            }
        },
        "fuser": {"sum": ["description"], "prepend": [], "cross": []},
    },
}


def play_both(loaded: Loaded, frames: int, seed: int) -> list[tuple[Call, Call]]:
    """Rows that join, pause, leave and come back at random, on both runtimes alike; all calls there were."""
    both: tuple[Runtime, Runtime] = (build_reference(loaded, 4), build_compact(loaded, 4))
    rng = random.Random(seed)
    here: dict[int, tuple[Call, Call]] = {}
    everyone: list[tuple[Call, Call]] = []
    for _ in range(frames):
        for slot in set(range(4)) - set(here):
            if slot == 0 or rng.random() < 0.2:
                noise = sound(rng.randrange(10**6), frames if slot == 0 else rng.randrange(3, frames))
                here[slot] = tuple(Call(slot, noise, SAMPLINGS[slot]) for _ in both)  # type: ignore[assignment]
                everyone.append(here[slot])
                for runtime in both:
                    runtime.join(slot, SAMPLINGS[slot])
        ready = [slot for slot in here if slot == 0 or rng.random() < 0.8]
        rng.shuffle(ready)
        for which, runtime in enumerate(both):
            step(runtime, [here[slot][which] for slot in ready])
        here = {slot: calls for slot, calls in here.items() if not calls[0].done}
    return everyone


def assert_equal(calls: list[tuple[Call, Call]]) -> None:
    for expected, found in calls:
        assert found.tokens == expected.tokens
        assert all(found.finite)
        assert max(np.abs(a - b).max() for a, b in zip(expected.pcm, found.pcm, strict=True)) < 1e-5


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_answers_as_the_reference_past_the_end_of_its_context(shape: str) -> None:
    loaded = make(**SHAPES[shape])
    calls = play_both(loaded, frames=50, seed=1)
    assert len({tuple(call.tokens[20]) for _, call in calls if len(call.tokens) > 20}) > 1
    assert_equal(calls)


@pytest.mark.parametrize("shape", ["the 7B layout", "grouped keys"])
def test_layers_one_by_one_answer_as_the_reference_past_the_end_of_their_context(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a CPU with weights that are too large to be packed."""
    monkeypatch.setattr(products, "PACKED_NUMBERS", 0)
    assert_equal(play_both(make(**SHAPES[shape]), frames=40, seed=4))


def test_five_hundred_frames_of_joins_leaves_and_pauses_answer_as_the_reference(loaded: Loaded) -> None:
    assert_equal(play_both(loaded, frames=500, seed=2))


@pytest.mark.parametrize(
    ("shape", "part"),
    [
        ({"cross_attention": True}, "cross_attention"),
        ({"demux_second_text_stream": True}, "demux_second_text_stream"),
        ({"causal": False}, "causal false"),
        ({"depformer_weights_per_step": False}, "depformer_weights_per_step false"),
    ],
)
def test_what_it_cannot_run_is_refused_by_name(shape: dict[str, Any], part: str) -> None:
    with pytest.raises(Unsupported, match=part):
        build_compact(make(**shape), 1)


def test_auto_falls_back_to_the_reference_with_one_line(caplog: pytest.LogCaptureFixture) -> None:
    loaded = make(causal=False)
    assert isinstance(build_runtime(loaded, "auto", 2), ReferenceRuntime)
    (record,) = caplog.records
    assert "causal false" in record.getMessage()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_graphs_on_cuda_answer_as_the_reference_there() -> None:
    loaded = make(device="cuda")
    assert_equal(play_both(loaded, frames=60, seed=3))


def test_shared_embeddings_leave_the_checkpoint_as_it_was() -> None:
    """The compact runtime makes the modules' weights views of its own; their numbers stay."""
    loaded = make()
    before = {name: value.clone() for name, value in loaded.lm.state_dict().items()}
    build_compact(loaded, 1)
    assert all(torch.equal(value, before[name]) for name, value in loaded.lm.state_dict().items())
    assert loaded.lm.card == CARD
