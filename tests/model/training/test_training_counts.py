"""Counting words and shares."""

from __future__ import annotations

import pytest

from model.training.counts import interval, spoken_words, word_errors


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello! It's 5.", "hello its five"),
        ("1, 2, 20", "one two twenty"),
        ("at 63 or 90", "at sixty three or ninety"),
        ("100 and 1000", "a hundred and a thousand"),
        ("317", "three hundred seventeen"),
    ],
)
def test_numbers_and_marks_are_compared_as_they_are_spoken(text: str, words: str) -> None:
    assert spoken_words(text) == words.split()


@pytest.mark.parametrize(
    ("heard", "errors"), [("a b c", 0), ("a c", 1), ("a x c", 1), ("a b b c d", 2), ("", 3)]
)
def test_an_error_is_a_word_changed_added_or_left_out(heard: str, errors: int) -> None:
    assert word_errors(["a", "b", "c"], heard.split()) == errors


def test_the_interval_of_ninety_in_a_hundred() -> None:
    low, high = interval(90, 100)  # Wilson's formula by hand: 0.8256 to 0.9448
    assert low == pytest.approx(0.8256, abs=1e-4)
    assert high == pytest.approx(0.9448, abs=1e-4)
