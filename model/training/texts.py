"""What is said: the intents, the words of the open vocabulary and the held-out sentences.

Reads the data files beside it and checks them once. Refuses to know voices and sound.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from model.config import ModelError

FOLDER = Path(__file__).parent
LEAST_INTENTS = 20
LEAST_PHRASINGS = 8
LEAST_ANSWERS = 2
DEV_EVERY = 9
"""Of a topic's phrasings, in order, one in so many is kept from the language model, to choose by."""

NOT_UNDERSTOOD = "not_understood"
SILENCE = "silence"
BACKCHANNEL = "backchannel"


@dataclass(frozen=True, slots=True)
class Topic:
    """phrasings: what users say in training. held_out: what they say in the checks only.

    patterns: more for training, each many phrasings: `[a|b|]` is one of its parts, perhaps none.
    """

    name: str
    phrasings: tuple[str, ...] = ()
    held_out: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()

    @property
    def dev(self) -> tuple[str, ...]:
        """The phrasings that only choose between checkpoints."""
        return self.phrasings[DEV_EVERY - 1 :: DEV_EVERY]


@dataclass(frozen=True)
class Domain:
    """intents: requests that have an answer. others: out of domain, long silence, backchannels."""

    intents: tuple[Topic, ...]
    others: tuple[Topic, ...]

    @property
    def topics(self) -> tuple[Topic, ...]:
        return (*self.intents, *self.others)

    @cached_property
    def known(self) -> frozenset[str]:
        return known_in(self.topics)


def known_in(topics: Iterable[Topic]) -> frozenset[str]:
    """Everything that users say for a purpose, plain: nobody stops to think after one of these."""
    return frozenset(plain(text) for topic in topics for text in (*topic.phrasings, *topic.held_out))


def plain(text: str) -> str:
    """Without case and marks."""
    return " ".join("".join(c for c in text.lower() if c.isalnum() or c in " '").split())


def parse_domain(content: dict[str, Any]) -> Domain:
    """From the parsed TOML. Raises ModelError that names the intent and what it lacks."""
    intents = tuple(_topic(entry["name"], entry) for entry in content["intent"])
    others = tuple(_topic(name, content[name]) for name in (NOT_UNDERSTOOD, SILENCE, BACKCHANNEL))
    if len(intents) < LEAST_INTENTS:
        raise ModelError(f"intents: at least {LEAST_INTENTS}, not {len(intents)}")
    for intent in intents:
        _check(intent)
    said = [phrase for topic in (*intents, *others) for phrase in (*topic.phrasings, *topic.held_out)]
    if doubles := sorted({phrase for phrase in said if said.count(phrase) > 1}):
        raise ModelError(f"intents: {doubles[0]!r} is said for two purposes")
    return Domain(intents, others)


def _topic(name: str, entry: dict[str, Any]) -> Topic:
    keys = ("phrasings", "held_out", "answers", "patterns")
    return Topic(name, *(tuple(entry.get(key, ())) for key in keys))


def _check(intent: Topic) -> None:
    for key, least in (("phrasings", LEAST_PHRASINGS), ("held_out", 1), ("answers", LEAST_ANSWERS)):
        if len(getattr(intent, key)) < least:
            raise ModelError(f"intent {intent.name}: {key} must have at least {least} entries")


@cache
def domain() -> Domain:
    return parse_domain(tomllib.loads((FOLDER / "intents.toml").read_text("utf-8")))


@cache
def words() -> dict[str, list[str]]:
    """The word lists of the open vocabulary, by kind."""
    return tomllib.loads((FOLDER / "words.toml").read_text("utf-8"))


@cache
def held_out_sentences() -> tuple[str, ...]:
    """Sentences of the agent that no training ever hears."""
    return tuple((FOLDER / "held_out.txt").read_text("utf-8").splitlines())
