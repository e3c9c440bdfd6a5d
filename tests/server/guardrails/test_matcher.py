"""When a rule fires, word by word."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.guardrails.matcher import Matcher
from server.guardrails.rules import MOST_CHARACTERS, make_rule

BASE: dict[str, Any] = {"name": "n", "listen": ["user"], "action": "flag"}


def phrases(*texts: str) -> Matcher:
    return Matcher(make_rule(BASE | {"phrases": list(texts)}).find)


def regex(pattern: str) -> Matcher:
    return Matcher(make_rule(BASE | {"regex": pattern}).find)


def fired(matcher: Matcher, text: str) -> list[tuple[int, str]]:
    """At which word, and what."""
    return [(n, found) for n, word in enumerate(text.split()) if (found := matcher.word(word))]


def test_a_phrase_is_whole_words_only() -> None:
    assert fired(phrases("bank card"), "a bank card and bank cards and a riverbank card") == [
        (2, "bank card")
    ]


def test_each_time_a_phrase_is_said_it_fires_once() -> None:
    assert [n for n, _ in fired(phrases("no"), "no no yes no")] == [0, 1, 3]


def test_of_phrases_that_end_together_the_longest_is_told() -> None:
    assert fired(phrases("card", "bank card"), "my bank card") == [(2, "bank card")]


def test_a_match_that_grows_is_still_the_same() -> None:
    assert fired(phrases("card", "card number"), "card number card") == [(0, "card"), (2, "card")]
    assert fired(regex(r"\d+( \d+)*"), "4111 1111 is 42") == [(0, "4111"), (3, "42")]


def test_a_word_that_may_still_grow_is_looked_at_and_told_once() -> None:
    matcher = phrases("card")
    assert matcher.word("car", whole=False) is None
    assert matcher.word("card", whole=False) == "card"
    assert matcher.word("card") is None
    assert matcher.word("card") == "card"


def test_a_regex_goes_over_the_borders_of_words() -> None:
    assert fired(regex(r"card (number )?\d{4}\b"), "my card number 4111 please") == [(3, "card number 4111")]
    assert fired(regex("CAF\u00c9 \\d"), "the cafe 3") == [(2, "cafe 3")]


@pytest.mark.parametrize("matcher", [phrases("a b"), regex("a b")])
def test_the_text_kept_is_bounded_and_what_is_said_late_is_still_found(matcher: Matcher) -> None:
    assert fired(matcher, "a b " + "word " * 500 + "a b") == [(1, "a b"), (503, "a b")]
    assert len(matcher._text) <= MOST_CHARACTERS


@given(
    st.lists(st.sampled_from(["a", "b", "ab", "c"]), max_size=300),
    st.sampled_from(["a b", "ab", "b b", "c a b"]),
)
def test_a_phrase_and_the_regex_of_its_letters_fire_alike(words: list[str], phrase: str) -> None:
    text = " ".join(words)
    assert fired(phrases(phrase), text) == fired(regex(rf"\b{phrase}\b"), text)
