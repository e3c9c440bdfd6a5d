"""Text as rules see it, however it is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.guardrails.words import MOST_LETTERS, WordStream, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don\u2019t, PLEASE!", ["dont", "please"]),
        ("  e-mail:\tme@home.org ", ["e", "mail", "me", "home", "org"]),
        ("4 1\u00a02, \u2081\u2082", ["4", "1", "2", "12"]),
        ("Stra\u00dfe CAF\u00c9 cafe\u0301", ["strasse", "cafe", "cafe"]),
        ("pass\u00adword zero\u200bwidth", ["password", "zerowidth"]),
        ("\uff26\uff35\uff2c\uff2c \ufb01ne", ["full", "fine"]),
        ("\u2581hello", ["hello"]),
        (
            "\u65e5\u672c \u043f\u0440\u0438\u0432\u0435\u0442",
            ["\u65e5\u672c", "\u043f\u0440\u0438\u0432\u0435\u0442"],
        ),
        ("... \u2014 !?", []),
    ],
)
def test_case_accents_punctuation_and_spacing_do_not_matter_and_digits_stay(
    text: str, words: list[str]
) -> None:
    assert words_of(text) == words


@given(st.text(max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_a_text_has_the_same_words_wherever_it_is_cut(text: str, cuts: list[int]) -> None:
    stream, at = WordStream(), 0
    words: list[str] = []
    for cut in [*sorted(cuts), len(text)]:
        words += stream.push(text[at : max(at, cut)])
        at = max(at, cut)
    assert words + ([stream.open] if stream.open else []) == words_of(text)


def test_the_last_word_stays_open_until_something_ends_it() -> None:
    stream = WordStream()
    assert stream.push(" car") == []
    assert stream.open == "car"
    assert stream.push("ds.") == ["cards"]
    assert stream.open == ""


def test_a_word_without_end_is_cut_and_never_kept_whole() -> None:
    stream = WordStream()
    words = [word for _ in range(1_000) for word in stream.push("endless")]
    assert {len(word) for word in words} == {MOST_LETTERS}
    assert len(stream.open) <= MOST_LETTERS
    assert sum(map(len, words)) + len(stream.open) == 7_000
