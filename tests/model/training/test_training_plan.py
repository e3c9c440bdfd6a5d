"""The plan: what is spoken is decided before anything is, and checks stay apart from training."""

from __future__ import annotations

from dataclasses import replace

from model.training import voices
from model.training.plan import OPEN, plan
from tests.model.training.toy import DOMAIN, SETTINGS, UNSEEN, WORDS, toy_plan


def test_the_same_settings_give_the_same_plan() -> None:
    assert toy_plan() == toy_plan()
    assert toy_plan() != plan(replace(SETTINGS, seed=1), DOMAIN, WORDS, UNSEEN)


def test_every_key_is_its_own() -> None:
    keys = [utterance.key for utterance in toy_plan()]
    assert len(keys) == len(set(keys))


def test_a_voice_of_the_checks_is_never_in_training() -> None:
    heard = {utterance.voice for utterance in toy_plan() if utterance.split == "train"}
    kept = {*voices.HELD_OUT_USERS, *voices.HELD_OUT_NATURAL_USERS}
    assert heard.isdisjoint(kept)
    assert {*voices.USERS, *voices.NATURAL_USERS}.isdisjoint(kept)
    parts = {part for voice in voices.NATURAL_USERS for part in voice.removeprefix("kokoro:").split("+")}
    assert parts.isdisjoint(voice.removeprefix("kokoro:") for voice in voices.HELD_OUT_NATURAL_USERS)


def test_a_phrasing_of_the_checks_is_marked_as_new() -> None:
    marks = {utterance.text: utterance.seen_text for utterance in toy_plan() if utterance.split == "held_out"}
    assert marks == {"hello": True, "hi": True, "good day": False} | {
        "bye": True,
        "see you": True,
        "farewell": False,
        UNSEEN[0]: False,
    }


def test_every_answer_is_spoken_as_often_as_asked() -> None:
    texts = [utterance.text for utterance in toy_plan() if utterance.role == "agent"]
    assert [texts.count(text) for text in ("Hi.", "Goodbye.", "Still there?", UNSEEN[0])] == [2, 2, 2, 1]
    spoken = [utterance for utterance in toy_plan() if utterance.topic == OPEN and utterance.role == "agent"]
    assert len(spoken) == SETTINGS.open_agent + len(UNSEEN)
