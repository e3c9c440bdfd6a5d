"""A word and when it was said, and the repair of lists of them. Refuses to know file formats."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evals.intervals import EPSILON_S, Interval

WORD_WITHOUT_END_S = 0.5
"""The longest that a word without an end may last (Full-Duplex-Bench transcripts have such)."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of one channel; times in seconds from the start of the recording."""

    text: str
    start: float
    end: float
    probability: float | None = None
    channel: Literal["user", "agent"] = "agent"


@dataclass(frozen=True, slots=True)
class RawWord:
    """A word as a file has it: a time may be missing or wrong."""

    text: str
    start: float | None
    end: float | None
    probability: float | None = None


def repaired(
    raw: Sequence[RawWord], channel: Literal["user", "agent"], duration_s: float
) -> tuple[tuple[Word, ...], tuple[str, ...]]:
    """Words in order of time, inside the recording, and one line for each kind of repair.

    Without a start, with an end before the start, or starting beyond the end of the recording: dropped
    and counted. Without an end: until the next word, half a second at most. Out of order: sorted.
    """
    kept, notes = _kept(raw, channel, duration_s)
    order = sorted(kept, key=lambda word: word.start or 0.0)
    if order != kept:
        notes.append(f"{channel} words are not in order of time: sorted")
    return _closed(order, channel, duration_s, notes), tuple(notes)


def _kept(raw: Sequence[RawWord], channel: str, duration_s: float) -> tuple[list[RawWord], list[str]]:
    kept: list[RawWord] = []
    dropped: dict[str, int] = {}
    for word in raw:
        problem = _problem(word, duration_s)
        if problem:
            dropped[problem] = dropped.get(problem, 0) + 1
        else:
            kept.append(word)
    return kept, [f"{count} {channel} words {problem}: dropped" for problem, count in dropped.items()]


def _problem(word: RawWord, duration_s: float) -> str:
    if word.start is None or not math.isfinite(word.start) or word.start < 0:
        return "have no start"
    if word.end is not None and word.end < word.start - EPSILON_S:
        return "end before they start"
    return "start beyond the end of the recording" if word.start >= duration_s else ""


def _closed(
    order: list[RawWord], channel: Literal["user", "agent"], duration_s: float, notes: list[str]
) -> tuple[Word, ...]:
    words: list[Word] = []
    open_ends = beyond = 0
    for n, word in enumerate(order):
        start = word.start or 0.0
        end = word.end
        if end is None or not math.isfinite(end):
            open_ends += 1
            following = order[n + 1].start if n + 1 < len(order) else None
            end = min(math.inf if following is None else following, start + WORD_WITHOUT_END_S, duration_s)
        if end > duration_s + EPSILON_S:
            beyond += 1
        words.append(Word(word.text, start, max(start, min(end, duration_s)), word.probability, channel))
    if open_ends:
        notes.append(f"{open_ends} {channel} words have no end: set to the next start, half a second at most")
    if beyond:
        notes.append(f"{beyond} {channel} words end beyond the end of the recording: cut")
    return tuple(words)


def within(words: Iterable[Word], span: Interval) -> tuple[Word, ...]:
    """The words whose middle lies in a span."""
    return tuple(w for w in words if span.start - EPSILON_S <= (w.start + w.end) / 2 <= span.end + EPSILON_S)


def text_of(words: Iterable[Word]) -> str:
    return " ".join(word.text.strip() for word in words)


def shifted(words: Iterable[Word], by_s: float) -> tuple[Word, ...]:
    """The same words later by `by_s`."""
    return tuple(replace(word, start=word.start + by_s, end=word.end + by_s) for word in words)


def plain(text: str) -> str:
    """Lower case, without punctuation but apostrophes inside words."""
    return " ".join(re.findall(r"\w+(?:'\w+)*", text.lower()))
