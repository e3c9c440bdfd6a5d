"""What the conversation check makes of sound and text whose verdict is known."""

from __future__ import annotations

import numpy as np
import pytest

from audio.frames import SAMPLE_RATE, Samples
from model.training.verdicts import Activity, topic_of

ANSWERS = {
    "lights_on": ["Okay, I am turning the lights on.", "Sure, now the lights are on."],
    "lights_off": ["All right, I am turning the lights off."],
    "count": ["One, two, three, four."],
}


def tone(*spans_s: tuple[float, float], length_s: float = 4.0) -> Samples:
    """Sound in these spans and silence elsewhere."""
    sound = np.zeros(int(length_s * SAMPLE_RATE), np.float32)
    for start_s, end_s in spans_s:
        sound[int(start_s * SAMPLE_RATE) : int(end_s * SAMPLE_RATE)] = 0.3
    return sound


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Okay, I am turning the lights on.", "lights_on"),
        ("All right, I am turning", "lights_off"),
        ("one two", "count"),
        ("Bananas grow in warm places", None),
        ("", None),
    ],
)
def test_an_answer_is_known_by_its_beginning(text: str, topic: str | None) -> None:
    assert topic_of(text, ANSWERS) == topic


def test_speech_is_found_where_it_is() -> None:
    activity = Activity.of(tone((1.0, 2.0)))
    assert activity.first(0.0) == pytest.approx(1.0)
    assert activity.within(0.0, 2.0) == pytest.approx(0.5)
    assert activity.first(2.5) is None


def test_a_gap_between_words_is_no_silence() -> None:
    activity = Activity.of(tone((0.0, 1.0), (1.2, 2.0)))
    assert activity.silent_from(0.5) == pytest.approx(2.0)
    assert Activity.of(tone((0.0, 4.0))).silent_from(0.5) is None
