"""Words with their times, as a transcriber hears them, and how they stand in messages.

Refuses to know which messages hold them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from duet_client.fields import (
    INTEGER,
    NAME,
    Field,
    Fields,
    Kind,
    choice,
    number,
    read_fields,
    refuse,
    write_fields,
)

Channel = Literal["user", "agent"]

WORDS_MAX = 256
"""Of one message: a minute of fast speech, which a caller's outbox takes at once."""


MS_MAX = 10**12
"""No call is as long (30 years), and every language counts so far without loss."""


def _read_ms(value: Any, where: str) -> int:
    ms: int = INTEGER.read(value, where)
    return ms if ms <= MS_MAX else refuse(where, f"an integer from 0 to {MS_MAX}", value)


MS = Kind(_read_ms)
"""A time or a duration, in whole milliseconds."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word. Times in milliseconds of the session; probability from 0 to 1."""

    word: str
    start_ms: int
    end_ms: int
    probability: float


WORD: Fields = (
    Field("word", "word", NAME, required=True),
    Field("start_ms", "start_ms", MS, required=True),
    Field("end_ms", "end_ms", MS, required=True),
    Field("probability", "probability", number(1), required=True),
)


def write_words(words: tuple[Word, ...]) -> list[dict[str, Any]]:
    """As they stand in a message."""
    return [write_fields(WORD, word) for word in words]


def _read_words(value: Any, where: str) -> tuple[Word, ...]:
    if not isinstance(value, list) or len(value) > WORDS_MAX:
        refuse(where, f"a list of at most {WORDS_MAX} words", value)
    return tuple(_read_word(each, f"{where}.{at}") for at, each in enumerate(value))


def _read_word(value: Any, where: str) -> Word:
    if not isinstance(value, dict):
        refuse(where, "an object", value)
    word = Word(**read_fields(WORD, value, f"{where}."))
    if word.end_ms < word.start_ms:
        refuse(f"{where}.end_ms", "at least start_ms", word.end_ms)
    if word.probability > 1:
        refuse(f"{where}.probability", "a number from 0 to 1", word.probability)
    return word


WORDS = Kind(_read_words, write_words)
CHANNEL = choice("user", "agent")
