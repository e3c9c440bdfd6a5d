"""What may be said: enough of it, and nothing for two purposes."""

from __future__ import annotations

import tomllib
from random import Random
from typing import Any

import pytest

from model.config import ModelError
from model.training.callers import Texts
from model.training.phrasings import expanded
from model.training.sentences import sentences
from model.training.texts import FOLDER, domain, held_out_sentences, parse_domain, plain, words


@pytest.fixture
def content() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "intents.toml").read_text("utf-8"))


def test_the_model_knows_at_least_twenty_requests_and_asks_for_none_of_them_in_one_way_only() -> None:
    assert len(domain().intents) >= 20
    assert all(len(intent.phrasings) >= 8 and len(intent.answers) >= 2 for intent in domain().intents)
    assert all(intent.held_out for intent in domain().intents)


def test_an_intent_with_one_answer_is_named(content: dict[str, Any]) -> None:
    content["intent"][3]["answers"] = ["Ha."]
    with pytest.raises(ModelError, match="intent joke: answers must have at least 2 entries"):
        parse_domain(content)


def test_a_phrase_cannot_mean_two_things(content: dict[str, Any]) -> None:
    content["intent"][1]["phrasings"].append("hello")
    with pytest.raises(ModelError, match="'hello' is said for two purposes"):
        parse_domain(content)


def test_too_few_intents_are_no_domain(content: dict[str, Any]) -> None:
    content["intent"] = content["intent"][:19]
    with pytest.raises(ModelError, match="at least 20, not 19"):
        parse_domain(content)


def test_the_open_vocabulary_is_the_same_for_the_same_seed_and_never_repeats() -> None:
    drawn = sentences(300, "a seed", words(), frozenset())
    assert drawn == sentences(300, "a seed", words(), frozenset())
    assert drawn != sentences(300, "another", words(), frozenset())
    assert len(set(drawn)) == 300
    assert not any("{" in sentence for sentence in drawn)


def test_a_sentence_kept_for_the_checks_is_never_drawn() -> None:
    first = sentences(50, "a seed", words(), frozenset())
    assert first[7] not in sentences(50, "a seed", words(), frozenset([first[7]]))


def test_at_least_twenty_sentences_are_kept_for_the_checks() -> None:
    assert len(set(held_out_sentences())) >= 20


def test_a_pattern_is_as_many_phrasings_as_its_choices_give() -> None:
    made = {expanded(Random(number), "[can|will] you sing [please|] now") for number in range(99)}
    assert made == {f"{can} you sing {please}now" for can in ("can", "will") for please in ("", "please ")}
    assert expanded(Random(0), "what ['s] this") == "what's this"
    assert expanded(Random(0), "hi [|], how are you") == "hi, how are you"


def test_what_the_patterns_of_one_topic_make_is_said_for_no_other() -> None:
    purposes: dict[str, set[str]] = {}
    for topic in domain().topics:
        made = (expanded(Random(number), pattern) for pattern in topic.patterns for number in range(60))
        for text in (*topic.phrasings, *topic.held_out, *made):
            purposes.setdefault(plain(text), set()).add(topic.name)
    assert {text: names for text, names in purposes.items() if len(names) > 1} == {}


def test_what_a_pattern_makes_holds_no_phrasing_of_the_checks() -> None:
    texts, random = Texts(domain().topics, "train"), Random(0)
    for intent in domain().intents:
        drawn = {texts.draw(random, intent.name) for _ in range(300)}
        assert len(drawn) > 100
        kept = {plain(text) for text in (*intent.held_out, *intent.dev)}
        assert kept.isdisjoint(plain(text) for text in drawn)
