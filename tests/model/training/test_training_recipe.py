"""The schedule: what a step's learning rate and quantiser chance are."""

from __future__ import annotations

import pytest

from model.config import ModelError
from model.training.recipe import RECIPE, Stage

STAGE = Stage("s", 1000, 1, 1, 1e-3, decay_from=0.5, bypass_steps=100, unquantised=0.1, quantised_from=0.6)


@pytest.mark.parametrize(
    ("step", "rate"), [(0, 1e-5), (99, 1e-3), (500, 1e-3), (750, 0.515e-3), (1000, 0.03e-3)]
)
def test_the_rate_rises_stays_and_falls_by_half_a_cosine(step: int, rate: float) -> None:
    assert STAGE.rate(step) == pytest.approx(rate)


@pytest.mark.parametrize(("step", "chance"), [(99, 1.0), (100, 0.5), (160, 0.1), (599, 0.1), (600, 0.0)])
def test_the_quantiser_comes_in_by_steps_and_stays(step: int, chance: float) -> None:
    assert STAGE.skip_chance(step) == chance


def test_the_recipe_ends_with_the_decoder_alone() -> None:
    assert RECIPE.stages[0].bypass_steps > 0
    assert RECIPE.stages[-1].decoder_only


def test_an_unknown_stage_is_refused_with_those_there_are() -> None:
    with pytest.raises(ModelError, match="--until must be one of joint, "):
        RECIPE.until("nonsense")
    assert RECIPE.until("joint") == RECIPE.stages[:1]
