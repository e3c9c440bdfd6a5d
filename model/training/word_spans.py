"""Which word is said when: from a synthesiser's phonemes, with times, to the words of the text.

espeak-ng, which names the phonemes, runs small words together ("on the" is one group). So words are
laid over its groups in order, each group taking the words that fit its length best. Numbers must be
written as words. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

EDGES = frozenset("^$")
MARKS = frozenset(".,;:!?'\"()-")
STRESS = frozenset("ˈˌː")
MOST_WORDS = 4
"""Of one group of phonemes."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is written, marks and all, and where it is said, in seconds."""

    text: str
    start_s: float
    end_s: float


Span = tuple[str, float, float]
"""A phoneme (or a space, a mark, an edge), its start and its end in seconds."""


def placed(text: str, spans: Sequence[Span]) -> tuple[Word, ...]:
    """Every word of the text in order, none of them before the one before it; () without spans."""
    words, groups = text.split(), _groups(spans)
    if not words or not groups:
        return ()
    counts = _shares([_length(word) for word in words], [size for size, _, _ in groups])
    found: list[Word] = []
    at = 0
    for count, (_, start_s, end_s) in zip(counts, groups, strict=True):
        found += _within(words[at : at + count], start_s, end_s)
        at += count
    return tuple(found)


def _groups(spans: Sequence[Span]) -> list[tuple[int, float, float]]:
    """Phonemes between spaces and sentence edges: how many, start and end."""
    groups: list[tuple[int, float, float]] = []
    size, start_s, end_s = 0, 0.0, 0.0
    for symbol, first_s, last_s in (*spans, (" ", 0.0, 0.0)):
        if symbol == " " or symbol in EDGES:
            if size:
                groups.append((size, start_s, end_s))
            size = 0
        elif symbol not in MARKS:
            start_s = first_s if not size else start_s
            size += symbol not in STRESS
            end_s = last_s
    return groups


def _length(word: str) -> float:
    """About how many phonemes: letters, doubled ones once."""
    letters = [letter for letter in word.lower() if letter.isalpha()]
    doubled = sum(a == b for a, b in zip(letters, letters[1:], strict=False))
    return max(1.0, 0.85 * (len(letters) - doubled))


def _shares(lengths: Sequence[float], sizes: Sequence[int]) -> list[int]:
    """How many words each group takes: the sum of squared misfits is least. Dynamic programming."""
    far = float("inf")
    best = [[far] * (len(lengths) + 1) for _ in range(len(sizes) + 1)]
    taken = [[0] * (len(lengths) + 1) for _ in range(len(sizes) + 1)]
    best[0][0] = 0.0
    most = max(MOST_WORDS, len(lengths) - len(sizes) + 1)
    for group, size in enumerate(sizes, 1):
        for word in range(len(lengths) + 1):
            for count in range(min(most, word) + 1):
                # a word may be said as two groups: one of them then takes no word
                misfit = (size - sum(lengths[word - count : word])) ** 2
                cost = best[group - 1][word - count] + misfit
                if cost < best[group][word]:
                    best[group][word], taken[group][word] = cost, count
    counts = []
    word = len(lengths)
    for group in range(len(sizes), 0, -1):
        counts.append(taken[group][word])
        word -= counts[-1]
    return counts[::-1]


def _within(words: Sequence[str], start_s: float, end_s: float) -> list[Word]:
    """Words said in one breath, each as long as its letters."""
    whole = sum(_length(word) for word in words)
    found: list[Word] = []
    at = start_s
    for word in words:
        until = at + (end_s - start_s) * _length(word) / whole
        found.append(Word(word, round(at, 3), round(until, 3)))
        at = until
    return found
