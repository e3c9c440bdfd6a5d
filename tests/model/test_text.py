"""Pieces to words."""

from __future__ import annotations

from model.text import TextDecoder


class Table:
    def piece(self, token: int) -> str | None:
        return {0: None, 1: "\u2581he", 2: "llo", 3: "<0xE2>", 4: "<0x82>", 5: "<0xAC>"}[token]


def said(*tokens: int) -> list[str]:
    decoder = TextDecoder(Table())
    return [decoder.push(token) for token in tokens]


def test_a_words_first_piece_brings_its_space() -> None:
    assert said(1, 2, 1) == [" he", "llo", " he"]


def test_padding_says_nothing() -> None:
    assert said(0, 1, 0) == ["", " he", ""]


def test_a_character_of_three_bytes_comes_with_its_last() -> None:
    assert said(3, 4, 5) == ["", "", "\u20ac"]


def test_padding_between_the_bytes_of_a_character_does_not_break_it() -> None:
    assert said(3, 0, 4, 0, 5) == ["", "", "", "", "\u20ac"]


def test_a_character_that_never_got_whole_is_shown_as_broken_not_lost() -> None:
    assert said(3, 4, 1, 2) == ["", "", "\ufffd he", "llo"]
