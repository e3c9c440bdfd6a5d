"""The conversation check on replies whose verdict is known."""

from __future__ import annotations

import numpy as np
import pytest

from audio.frames import FRAME_RATE, SAMPLE_RATE
from model.training.calls import Reply
from model.training.judge import judge
from model.training.scenes import Kind, Scene

ANSWERS = {
    "france": ["The capital of France is Paris."],
    "story": ["Once upon a time, a little fox lived near a quiet river."],
    "repeat": ["Sure, once more.", "Of course, I will say it again."],
    "silence": ["Are you still there?"],
}


def scene(kind: Kind, asked: str, **facts: object) -> Scene:
    """A request from 1 to 2 s in a call of 8 s."""
    sent = np.zeros(8 * SAMPLE_RATE, np.float32)
    return Scene(kind, sent, asked, "", "", end_s=2.0, start_s=1.0, **facts)  # type: ignore[arg-type]


def reply(*spans_s: tuple[float, float], text: str = "The capital of France is Paris.") -> Reply:
    """Sound in these spans, the words from the start of the first, one a frame."""
    sound = np.zeros(8 * SAMPLE_RATE, np.float32)
    for start_s, end_s in spans_s:
        sound[int(start_s * SAMPLE_RATE) : int(end_s * SAMPLE_RATE)] = 0.3
    first = int(spans_s[0][0] * FRAME_RATE) if spans_s else 0
    return Reply(sound, tuple((first + n, " " + word) for n, word in enumerate(text.split())))


def test_a_right_and_prompt_answer_passes_every_check() -> None:
    outcome = judge(scene("request", "france"), reply((2.3, 4.0)), ANSWERS)
    assert outcome.latency_s == pytest.approx(0.3, abs=0.03)
    assert outcome.checks == {"answered": True, "right answer": True, "silent while the user spoke": True}


def test_another_answer_is_wrong_and_speaking_over_the_user_is_told() -> None:
    outcome = judge(scene("request", "story"), reply((1.2, 4.0)), ANSWERS)
    assert outcome.checks["right answer"] is False
    assert outcome.checks["silent while the user spoke"] is False


def test_no_answer_is_no_answer() -> None:
    outcome = judge(scene("request", "story"), reply(text=""), ANSWERS)
    assert outcome.latency_s is None
    assert outcome.checks["answered"] is False


@pytest.mark.parametrize(("spans_s", "stopped"), [(((0.5, 1.8), (3.0, 4.0)), True), (((0.5, 2.4),), False)])
def test_who_is_broken_into_stops_within_a_second(
    spans_s: tuple[tuple[float, float], ...], stopped: bool
) -> None:
    asked = scene("barge-in", "france", second_s=(1.0, 2.0))
    assert judge(asked, reply(*spans_s), ANSWERS).checks["stopped within 1 s"] is stopped


@pytest.mark.parametrize(("spans_s", "went_on"), [(((2.2, 6.0),), True), (((2.2, 3.6),), False)])
def test_a_listeners_sound_does_not_end_the_story(
    spans_s: tuple[tuple[float, float], ...], went_on: bool
) -> None:
    told = reply(*spans_s, text="Once upon a time, a little fox lived")
    asked = scene("listener", "story", second_s=(3.3, 3.7))
    assert judge(asked, told, ANSWERS).checks["went on talking"] is went_on


@pytest.mark.parametrize("acknowledged", ANSWERS["repeat"])
def test_saying_the_last_answer_again_needs_both_parts(acknowledged: str) -> None:
    asked = scene("repeat", "repeat", first_asked="france")
    first = ((1, " The capital of France is Paris."),)
    for more, right in (
        (" The capital of France is Paris.", True),
        ("", False),
        (ANSWERS["story"][0], False),
    ):
        said = reply((2.3, 5.0), text=acknowledged + " " + more)
        heard = judge(asked, Reply(said.samples, first + said.text), ANSWERS)
        assert heard.checks["says the last answer again"] is right
