"""Which words of a pass were told before: a pass hears again the end of what is already told.

A word's times move by some 100 ms from pass to pass, and its text may change, so neither alone decides.
Refuses to know audio.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from duet_client.wire import Word

REACH = 6
"""Told words that are compared."""
_MISMATCH = 0.6
"""Prices are seconds of error in time; another text costs as much as this."""
_MISSING = 0.3  # the pass heard none of the told words
_FAR = 1.5
_TWICE_MS = 200


def plain(word: str) -> str:
    """Lower case, letters and digits and inner apostrophes only; empty for a word that is none."""
    return "".join(re.findall(r"\w+(?:'\w+)*", word.lower()))


def same(one: Word, other: Word) -> bool:
    return plain(one.word) == plain(other.word)


def untold(told: Sequence[Word], heard: Sequence[Word]) -> int:
    """How many words at the head of `heard` are already among `told`, both in order of time.

    Every cut has a price: words left of it that sound after the last told one would be lost, words right
    of it that sound before would be doubled, and those left of it should be the told ones.
    """
    if not told:
        return 0
    prices = [_price(told, heard, cut) for cut in range(len(heard) + 1)]
    return min(range(len(prices)), key=lambda cut: (prices[cut], cut))


def _price(told: Sequence[Word], heard: Sequence[Word], cut: int) -> float:
    edge_ms = told[-1].end_ms
    left = heard[:cut]
    if left and _again(told[-1], left[-1]):
        left = left[:-1]
    lost = sum(1 - _before(word, edge_ms) + _beyond(_middle_ms(word) - edge_ms) for word in left)
    doubled = sum(_before(word, edge_ms) + _beyond(edge_ms - _middle_ms(word)) for word in heard[cut:])
    return lost + doubled + _unlike(told, heard[:cut])


def _again(one: Word, other: Word) -> bool:
    """Whether it must be the same word: nobody says one twice within this time."""
    return same(one, other) and abs(_middle_ms(one) - _middle_ms(other)) <= _TWICE_MS


def _unlike(told: Sequence[Word], heard: Sequence[Word]) -> float:
    """Words paired from the last one back, as far as both go."""
    if not heard:
        return _MISSING
    price = 0.0
    for mine, other in zip(reversed(told[-REACH:]), reversed(heard), strict=False):
        price += _beyond(abs(_middle_ms(mine) - _middle_ms(other)))
        price += 0 if same(mine, other) else _MISMATCH
    return price


def _before(word: Word, edge_ms: int) -> float:
    """The part of a word that sounds before the edge, 0 to 1."""
    return min(1.0, max(0.0, (edge_ms - word.start_ms) / max(1, word.end_ms - word.start_ms)))


def _beyond(ms: float) -> float:
    return min(_FAR, max(0.0, ms / 1000))


def _middle_ms(word: Word) -> float:
    return (word.start_ms + word.end_ms) / 2
