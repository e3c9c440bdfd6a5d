"""The scenarios that come with the project: whole, small, and staged as they say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from evals.driver.annotations import annotate, sound
from evals.driver.cues import CueEngine
from evals.scenario import Scenario
from evals.scenario_reader import find_scenarios
from evals.scenarios.make_speech import NOISES
from tests.evals.staging import silence

SHIPPED = Path(__file__).resolve().parents[2] / "evals" / "scenarios"
SCENARIOS = {scenario.name: scenario for scenario in find_scenarios([SHIPPED])}


def of(behaviour: str) -> list[Scenario]:
    return [scenario for scenario in SCENARIOS.values() if scenario.behaviour == behaviour]


def test_each_behaviour_has_several_stimuli() -> None:
    assert Counter(scenario.behaviour for scenario in SCENARIOS.values()) == {
        "pause_handling": 5,
        "backchannel": 4,
        "smooth_turn_taking": 5,
        "user_interruption": 5,
        "user_backchannel": 3,
        "talking_to_other": 3,
        "background_speech": 2,
        "other": 2,
    }


def test_the_clips_are_small_enough_for_a_repository() -> None:
    clips = list(SHIPPED.rglob("*.flac"))
    assert len(clips) == sum(len(scenario.says) for scenario in SCENARIOS.values())
    assert sum(clip.stat().st_size for clip in clips) < 3_500_000


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_a_clip_begins_and_ends_with_its_sound(name: str) -> None:
    for say in SCENARIOS[name].says:
        first, last = sound(say.clip.pcm)
        assert first <= 0.02 * 24_000
        assert last >= len(say.clip.pcm) - 0.05 * 24_000
        assert say.text or say.id in NOISES


@pytest.mark.parametrize("scenario", of("pause_handling"), ids=lambda scenario: scenario.name)
def test_a_pause_is_as_long_as_it_says_and_its_turn_longer_than_five_seconds(scenario: Scenario) -> None:
    """Full-Duplex-Bench: a pause of 0.4 to 1.0 s inside a turn of more than 5 s."""
    engine = CueEngine(scenario)
    frames = 0
    while not engine.done:
        engine.step(silence(0.08))
        frames += 1
    pause, turn_end = annotate(engine.cues, frames * 1920)
    assert (pause.type, pause.expected, turn_end.type) == ("pause", "wait", "turn_end")
    assert pause.end - pause.start == pytest.approx(scenario.says[1].delay_s, abs=0.03)
    assert 0.39 <= pause.end - pause.start <= 1.03
    assert turn_end.end - 1.0 > 5.0


@pytest.mark.parametrize("scenario", of("smooth_turn_taking"), ids=lambda scenario: scenario.name)
def test_a_question_is_longer_than_four_seconds_and_leaves_five_for_the_answer(scenario: Scenario) -> None:
    assert len(scenario.says[0].clip.pcm) > 4 * 24_000
    assert scenario.tail_s >= 5.0


@pytest.mark.parametrize("scenario", of("user_interruption"), ids=lambda scenario: scenario.name)
def test_an_interruption_waits_for_an_agent_that_speaks_and_leaves_it_15_seconds(scenario: Scenario) -> None:
    interruption = scenario.says[1]
    assert (interruption.when, interruption.for_s, interruption.event) == (
        "agent_speaks",
        1.0,
        "interruption",
    )
    assert scenario.tail_s == 15.0


@pytest.mark.parametrize("scenario", of("backchannel"), ids=lambda scenario: scenario.name)
def test_a_story_leaves_time_for_signs_of_listening(scenario: Scenario) -> None:
    assert len(scenario.says[0].clip.pcm) > 12 * 24_000
