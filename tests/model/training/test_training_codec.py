"""A codec run on a toy: it learns, it goes on after a kill as if nothing had been, it loads in moshi."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from moshi.models import loaders
from safetensors.torch import load_file

from model.checkpoint import load
from model.config import ModelError
from model.training.crops import Pool, draw
from model.training.export import export
from model.training.learner import Tensors
from model.training.recipe import Recipe, Stage
from model.training.run_state import CHECKPOINT, RunState, begin, next_stage, resume
from model.training.shape import MIMI_CONFIG, fresh_codec
from model.training.train_codec import EXPORT, LOG, CodecRun
from model.untrained import write_untrained
from tests.model.training.toy import FEATURES, RECIPE, STAGES, toy_config


def new_run(folder: Path, pool: Pool, recipe: Recipe = RECIPE) -> CodecRun:
    return CodecRun(folder, recipe, pool, begin(recipe, FEATURES, "cpu", toy_config()), "cpu")


def weights(state: RunState) -> dict[str, torch.Tensor]:
    return {**state.learner.state_dict(), **{f"average {name}": x for name, x in state.average.items()}}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_the_loss_falls(tmp_path: Path, pool: Pool) -> None:
    stage = Stage("joint", 60, 2, 2, 3e-3, decay_from=0.7)
    run = new_run(tmp_path, pool, replace(RECIPE, stages=(stage,)))
    losses = [run.step(stage)["loss"] for _ in range(25)]
    assert sum(losses[-5:]) < 0.7 * sum(losses[:5])


@pytest.mark.parametrize("killed_at", [2, 6])
def test_a_killed_run_goes_on_as_if_nothing_had_been(tmp_path: Path, pool: Pool, killed_at: int) -> None:
    """Before and after the codebooks started; what was done after the checkpoint is done again."""
    whole, killed = new_run(tmp_path / "whole", pool), new_run(tmp_path, pool)
    (tmp_path / "whole").mkdir()
    whole.run()
    for _ in range(killed_at):
        killed.step(STAGES[0])
    killed.keep()
    killed.step(STAGES[0])
    state = resume(tmp_path / CHECKPOINT, RECIPE, FEATURES, "cpu")
    assert state.step == killed_at
    CodecRun(tmp_path, RECIPE, pool, state, "cpu").run()
    assert same(weights(whole.state), weights(state))
    assert state.history == ["joint: 8 steps", "decoder: 4 steps"]


def test_a_killed_decoder_stage_goes_on_too(tmp_path: Path, pool: Pool) -> None:
    whole = new_run(tmp_path, pool)
    whole.run()
    only = replace(RECIPE, stages=STAGES[:1])
    first = new_run(tmp_path, pool, only)
    first.run()
    CodecRun(tmp_path, RECIPE, pool, resume(tmp_path / CHECKPOINT, RECIPE, FEATURES, "cpu"), "cpu").run()
    again = resume(tmp_path / CHECKPOINT, RECIPE, FEATURES, "cpu")
    assert same(weights(whole.state), weights(again))


def test_between_stages_a_checkpoint_is_the_average_alone(tmp_path: Path, pool: Pool) -> None:
    run = new_run(tmp_path, pool)
    run.step(STAGES[0])
    run.keep()
    inside = (tmp_path / CHECKPOINT).stat().st_size
    next_stage(run.state, RECIPE)
    run.keep()
    assert (tmp_path / CHECKPOINT).stat().st_size < 0.4 * inside  # not the weights twice and two moments
    again = resume(tmp_path / CHECKPOINT, RECIPE, FEATURES, "cpu")
    assert same(weights(run.state), weights(again))


def test_the_decoder_stage_leaves_the_codes_alone(tmp_path: Path, pool: Pool) -> None:
    run = new_run(tmp_path, pool, replace(RECIPE, stages=STAGES[:1]))
    run.run()
    before = {name: value.clone() for name, value in run.state.average.items()}
    run.recipe = RECIPE
    state = resume(tmp_path / CHECKPOINT, RECIPE, FEATURES, "cpu")
    CodecRun(tmp_path, RECIPE, pool, state, "cpu").run()
    changed = {name for name in before if not torch.equal(before[name], state.average[name])}
    assert any(name.startswith("codec.decoder.") for name in changed)
    coding = ("codec.encoder", "codec.downsample", "codec.quantizer")
    assert {name for name in changed if name.startswith(coding)} == {
        "codec.quantizer.rvq_first.output_proj.weight",
        "codec.quantizer.rvq_rest.output_proj.weight",
    }


def test_every_codebook_starts_from_what_the_encoder_says(tmp_path: Path, pool: Pool) -> None:
    run = new_run(tmp_path, pool)
    for _ in range(STAGES[0].bypass_steps + 1):
        run.step(STAGES[0])
    layers = run.state.learner.layers()
    assert len(layers) == 8
    assert all(layer.initialized and (layer.embedding_sum != 0).any() for layer in layers)


def test_a_long_run_does_not_hold_on_to_its_past(tmp_path: Path, pool: Pool) -> None:
    """Unused codes are replaced every five steps, by latents that carry their step's graph."""
    run = new_run(tmp_path, pool)
    for _ in range(STAGES[0].bypass_steps + 6):
        run.step(replace(STAGES[0], steps=20))
    layers = run.state.learner.layers()
    assert not any(layer.embedding_sum.requires_grad or layer.cluster_usage.requires_grad for layer in layers)


def test_a_run_leaves_a_codec_that_moshi_loads_and_a_log(tmp_path: Path, pool: Pool) -> None:
    recipe = replace(RECIPE, stages=(replace(STAGES[0], steps=50),))
    run = new_run(tmp_path, pool, recipe)
    run.run()
    config = json.loads((tmp_path / EXPORT / "mimi.json").read_text())
    codec = loaders.get_mimi(tmp_path / EXPORT / "mimi.safetensors", config, num_codebooks=8)
    learned = run.state.average["codec.decoder.model.0.conv.conv.weight"]
    assert torch.equal(codec.decoder.model[0].conv.conv.weight, learned.to(torch.bfloat16).float())
    logged = [json.loads(line) for line in (tmp_path / LOG).read_text().splitlines()]
    assert [(entry["stage"], entry["step"]) for entry in logged] == [("joint", 50)]


def test_the_real_shape_takes_the_place_of_a_checkpoints_mimi(tmp_path: Path) -> None:
    write_untrained(tmp_path, context=24, num_layers=1)
    learner = {f"codec.{name}": value for name, value in fresh_codec(1).state_dict().items()}
    export(learner, MIMI_CONFIG, tmp_path / "codec")
    for name in ("mimi.safetensors", "mimi.json"):
        shutil.copy(tmp_path / "codec" / name, tmp_path / name)
    loaded = load(str(tmp_path), "cpu", torch.float32)
    assert loaded.mimi.encode(torch.zeros(1, 1, 3840)).shape == (1, 8, 2)
    assert (tmp_path / "mimi.safetensors").stat().st_size < 6e6
    assert load_file(tmp_path / "mimi.safetensors").keys() == loaded.mimi.state_dict().keys()


def test_a_file_that_is_no_checkpoint_is_named(tmp_path: Path) -> None:
    (tmp_path / CHECKPOINT).write_bytes(b"not a checkpoint")
    with pytest.raises(ModelError, match="is not a checkpoint of a codec run"):
        resume(tmp_path / CHECKPOINT, RECIPE, FEATURES, "cpu")


def test_users_need_not_become_sound_to_be_told_in_log_mels(pool: Pool) -> None:
    stage = Stage("joint", 8, 1, 1, 3e-3, decay_from=0.7, user_sound=False)
    learner = begin(RECIPE, FEATURES, "cpu", toy_config()).learner.eval()
    drawn = draw(pool, np.random.default_rng(1), agent=1, users=1, frames=3, answers_share=0.5)
    other = np.concatenate([drawn.wanted[:1], drawn.wanted[1:] * 0.1])
    logs = [
        learner.loss(
            Tensors(
                *(
                    torch.from_numpy(part)
                    for part in (drawn.heard[:, None], wanted, drawn.taught, drawn.known)
                )
            ),
            stage,
            5,
            RECIPE,
        )[1]
        for wanted in (drawn.wanted, other)
    ]
    assert logs[0]["mel"] == logs[1]["mel"]
    assert logs[0]["auxiliary"] != logs[1]["auxiliary"]
