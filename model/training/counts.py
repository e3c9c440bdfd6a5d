"""Counting what was right: words against words, and how sure a share is. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def spoken_words(text: str) -> list[str]:
    """Lower case, no punctuation, numbers as words: how a text is compared with another."""
    plain = text.lower().replace("'", "").replace("\u2019", "")
    words: list[str] = []
    for word in re.findall(r"[a-z]+|\d+", plain):
        words += _number(int(word)) if word.isdigit() else [word]
    return words


def _number(value: int) -> list[str]:
    if value < 20:
        return [_ONES[value]]
    if value < 100:
        return [_TENS[value // 10], *([_ONES[value % 10]] if value % 10 else [])]
    if value < 1000:
        head = ["a" if value // 100 == 1 else _ONES[value // 100], "hundred"]
        return head + (_number(value % 100) if value % 100 else [])
    head = ["a"] if value // 1000 == 1 else _number(value // 1000)
    return [*head, "thousand", *(_number(value % 1000) if value % 1000 else [])]


def word_errors(wanted: Sequence[str], heard: Sequence[str]) -> int:
    """The fewest words to change, add or leave out (Levenshtein distance)."""
    row = list(range(len(heard) + 1))
    for count, word in enumerate(wanted, 1):
        before, row[0] = row[0], count
        for at, other in enumerate(heard, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (word != other))
    return row[-1]


def interval(right: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95 % interval for a share of `total` > 0."""
    share = right / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + z * z / (4 * total**2))
    return max(0.0, middle - half), min(1.0, middle + half)
