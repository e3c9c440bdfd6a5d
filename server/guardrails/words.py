"""Text as rules see it: a row of plain words, out of fragments that may be cut anywhere.

Letters lose their case and accents (compatibility decomposition, case folding, combining marks dropped),
digits stay, apostrophes and invisible characters vanish inside a word, and everything else is a border
between words. Each character is mapped by itself, so the result does not depend on where a fragment
ends. Refuses to know rules and frames.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

MOST_LETTERS = 200
"""A longer word is cut: nothing may grow for ever."""
_APOSTROPHES = "'\u2018\u2019\u02bc\uff07`\u00b4"
_BORDER = " "


def words_of(text: str) -> list[str]:
    """The words of a whole text: `"Don't, PLEASE!"` is dont, please."""
    return fold(text).split()


def fold(text: str) -> str:
    """Every character as rules see it; a border is a space."""
    return "".join(map(_fold, text))


class WordStream:
    """The words of a text that comes in fragments. The last one stays open: it may still grow."""

    def __init__(self) -> None:
        self.open = ""

    def push(self, fragment: str) -> list[str]:
        """The words that the fragment ends."""
        *whole, last = (self.open + fold(fragment)).split(_BORDER)
        while len(last) > MOST_LETTERS:
            whole, last = [*whole, last[:MOST_LETTERS]], last[MOST_LETTERS:]
        self.open = last
        return [piece for word in whole for piece in _cut(word)]


def _cut(word: str) -> list[str]:
    return [word[at : at + MOST_LETTERS] for at in range(0, len(word), MOST_LETTERS)]


@lru_cache(4096)
def _fold(character: str) -> str:
    if character in _APOSTROPHES:
        return ""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(map(_as_word, decomposed))


def _as_word(character: str) -> str:
    kind = unicodedata.category(character)
    if kind == "Cf" or unicodedata.combining(character):
        return ""
    return character if kind[0] in "LNM" else _BORDER
