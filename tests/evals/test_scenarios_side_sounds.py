"""The shipped scenarios in which the user makes sounds that are not for the agent, from cue to score."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evals.conversation import SIDE_SOUNDS, Annotation, Conversation, Samples
from evals.driver.annotations import annotate
from evals.driver.cues import CueEngine, State
from evals.intervals import Interval
from evals.results import ConversationResult
from evals.scenario import Scenario
from evals.scenario_reader import find_scenarios
from tests.evals.golden import metric, scored
from tests.evals.staging import silence, tone

SHIPPED = Path(__file__).resolve().parents[2] / "evals" / "scenarios"
FOLDERS = ("user_backchannel", "talking_to_other", "background_speech", "background_noise")
SCENARIOS = find_scenarios([SHIPPED / folder for folder in FOLDERS])
OVER_SPEECH = [scenario for scenario in SCENARIOS if scenario.name != "aside-first"]
(FIRST,) = (scenario for scenario in SCENARIOS if scenario.name == "aside-first")
FRAME_S = 0.08
FRAME = 1920


def ids(scenario: Scenario) -> str:
    return scenario.name


@pytest.mark.parametrize("scenario", OVER_SPEECH, ids=ids)
def test_a_side_sound_is_skipped_where_there_is_no_speech_to_make_it_over(scenario: Scenario) -> None:
    aside = scenario.says[1]
    assert (aside.when, aside.expected, aside.on_timeout) == ("agent_speaks", "resume", "skip")
    assert aside.event in SIDE_SOUNDS
    engine = CueEngine(scenario)
    while not engine.done:
        engine.step(silence(FRAME_S))
    assert [cue.state for cue in engine.cues] == [State.DUE, State.SKIPPED]


@pytest.mark.parametrize("scenario", [s for s in SCENARIOS if s.behaviour == "user_backchannel"], ids=ids)
def test_a_listeners_sound_is_short_enough_to_be_a_backchannel(scenario: Scenario) -> None:
    assert len(scenario.says[1].clip.pcm) <= 24_000
    assert len(scenario.says[1].text.split()) <= 2


@pytest.mark.parametrize("scenario", OVER_SPEECH, ids=ids)
@pytest.mark.parametrize("stops", [False, True])
def test_only_an_agent_that_falls_silent_yields_to_a_side_sound(scenario: Scenario, stops: bool) -> None:
    found = metric(answered(scenario, stops=stops), "false_yield_rate")
    assert (found.value, found.n, found.scoring) == (float(stops), 1, "annotated")


@pytest.mark.parametrize("answers", [False, True])
def test_words_to_somebody_else_are_not_to_be_answered_and_the_question_after_them_is(answers: bool) -> None:
    result = answered(FIRST, stops=False, asides=answers)
    response = metric(result, "false_response_rate")
    assert (response.value, response.n) == (float(answers), 1)
    assert metric(result, "response_rate").value == 1.0


def answered(scenario: Scenario, *, stops: bool, asides: bool = False) -> ConversationResult:
    """An agent that speaks for 6 s, from 0.5 s after the question; or until 0.4 s into a side sound.

    asides: it says something for 1 s after a side sound, too.
    """
    engine = CueEngine(scenario)
    user: list[Samples] = []
    agent: list[Samples] = []
    while not engine.done:
        now = len(agent) * FRAME
        agent.append(tone(FRAME_S) if speaks(engine, now, stops=stops, asides=asides) else silence(FRAME_S))
        user.append(engine.step(agent[-1]))
    notes = tuple(
        Annotation(note.type, Interval(note.start, note.end), note.expected, note.text)
        for note in annotate(engine.cues, len(user) * FRAME)
    )
    talk = Conversation(scenario.name, "", np.concatenate(user), np.concatenate(agent), annotations=notes)
    return scored(talk)


def speaks(engine: CueEngine, now: int, *, stops: bool, asides: bool) -> bool:
    said = {cue.say.event: cue for cue in engine.cues if cue.state is State.DUE}
    aside = next((cue for event, cue in said.items() if event != "turn"), None)
    if aside is not None and stops and now >= aside.start + 0.4 * 24_000:
        return False
    if aside is not None and asides and 0.5 * 24_000 <= now - aside.end < 1.5 * 24_000:
        return True
    return "turn" in said and 0.5 * 24_000 <= now - said["turn"].end < 6.5 * 24_000
