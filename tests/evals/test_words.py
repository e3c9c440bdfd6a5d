"""Words as files have them become words as they were said."""

from __future__ import annotations

from evals.intervals import Interval
from evals.words import RawWord, Word, plain, repaired, text_of, within


def test_a_word_without_an_end_lasts_to_the_next_or_half_a_second() -> None:
    raw = [RawWord("a", 1.0, None), RawWord("b", 1.2, None), RawWord("c", 9.8, None)]
    words, notes = repaired(raw, "user", 10.0)
    assert [word.end for word in words] == [1.2, 1.7, 10.0]
    assert notes == ("3 user words have no end: set to the next start, half a second at most",)


def test_good_words_are_left_as_they_are_and_nothing_is_said() -> None:
    words, notes = repaired([RawWord("a", 1.0, 2.0, 0.9)], "agent", 10.0)
    assert words == (Word("a", 1.0, 2.0, 0.9, "agent"),)
    assert notes == ()


def test_times_that_are_no_numbers_are_no_times() -> None:
    raw = [RawWord("a", float("nan"), 1.0), RawWord("b", 1.0, float("inf")), RawWord("c", -1.0, 1.0)]
    words, notes = repaired(raw, "user", 10.0)
    assert [(w.text, w.end) for w in words] == [("b", 1.5)]
    assert notes[0] == "2 user words have no start: dropped"


def test_a_word_belongs_where_its_middle_is() -> None:
    words = (Word("in", 0.8, 1.3), Word("out", 1.9, 2.4))
    assert text_of(within(words, Interval(1.0, 2.0))) == "in"


def test_plain_text_has_no_punctuation() -> None:
    assert plain(" Don't -- STOP! ") == "don't stop"
