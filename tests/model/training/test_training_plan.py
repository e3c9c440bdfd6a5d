"""The plan: what is spoken is decided before anything is, and checks stay apart from training."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from model.training import voices
from model.training.counts import spoken_words
from model.training.phrasings import hesitates
from model.training.plan import OPEN, PlanSettings, plan
from model.training.texts import BACKCHANNEL, domain, words
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
    assert {*voices.USERS, *(f"kokoro:{style}" for style in voices.NATURAL_STYLES)}.isdisjoint(kept)
    mixed = " ".join(voice for voice in heard if voices.is_natural(voice))
    assert not any(voice.removeprefix("kokoro:") in mixed for voice in voices.HELD_OUT_NATURAL_USERS)


def test_every_style_is_heard_and_those_that_choose_between_checkpoints_are_in_no_mean() -> None:
    mixes = " ".join(voices.natural(Random(number)) for number in range(300))
    assert all(f"{style}*" in mixes for style in voices.NATURAL_STYLES)
    kept = (*voices.DEV_NATURAL_USERS, *voices.HELD_OUT_NATURAL_USERS)
    assert not any(voice.removeprefix("kokoro:") in mixes for voice in kept)


def test_a_phrasing_of_the_checks_is_marked_as_new() -> None:
    said = [utterance for utterance in toy_plan() if utterance.split == "held_out"]
    known = {utterance.text for utterance in said if utterance.seen_text}
    new = {utterance.text.replace(",", "") for utterance in said if not utterance.seen_text}
    assert known == {"hello", "hi", "bye", "see you"}
    assert new == {"good day", "farewell", UNSEEN[0]}


def test_a_neural_voice_may_stop_at_a_comma_but_never_after_what_is_a_request() -> None:
    halting = {said.text for said in toy_plan() if said.split == "held_out" and "," in said.text}
    assert halting == {"good, day"}
    planned = plan(PlanSettings(open_agent=1, open_user=1), domain(), words(), ())
    natural = [said for said in planned if voices.is_natural(said.voice) and "," in said.text]
    assert sum(hesitates(said.text, domain().known) for said in natural) > 300


def test_no_request_of_training_is_one_of_the_checks_whatever_is_put_around_it() -> None:
    planned = plan(PlanSettings(open_agent=1, open_user=1), domain(), words(), ())
    kept = {plain(text) for topic in domain().topics for text in topic.held_out}
    heard = {plain(said.text) for said in planned if said.split == "train" and said.role == "user"}
    assert heard.isdisjoint(kept)
    around = {said.text for said in planned if said.topic == "joke" and said.split == "train"}
    assert len(around) > 100


def test_sounds_of_a_listener_stay_as_they_are() -> None:
    planned = plan(PlanSettings(open_agent=1, open_user=1), domain(), words(), ())
    (listener,) = [topic for topic in domain().topics if topic.name == BACKCHANNEL]
    assert {said.text for said in planned if said.topic == BACKCHANNEL} == set(listener.phrasings)


def plain(text: str) -> tuple[str, ...]:
    return tuple(spoken_words(text))


def test_every_answer_is_spoken_as_often_as_asked() -> None:
    texts = [utterance.text for utterance in toy_plan() if utterance.role == "agent"]
    assert [texts.count(text) for text in ("Hi.", "Goodbye.", "Still there?", UNSEEN[0])] == [2, 2, 2, 1]
    spoken = [utterance for utterance in toy_plan() if utterance.topic == OPEN and utterance.role == "agent"]
    assert len(spoken) == SETTINGS.open_agent + len(UNSEEN)
