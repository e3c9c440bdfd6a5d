"""What people put around a request: "hey Minny, ...", "could you ... please". A seeded grammar.

Training only: what it makes of a phrasing never equals one that is kept for the checks. Pure;
refuses to know what a request means.
"""

from __future__ import annotations

import re
from collections.abc import Set
from random import Random

from model.training.counts import spoken_words
from model.training.texts import plain

ANY = (
    *("hey Minny, {}", "Minny, {}", "hello Minny, {}", "hi, {}", "okay Minny, {}", "excuse me, {}"),
    *("um, {}", "well, {}", "so, {}", "okay, {}", "now {}", "and {}", "please, {}", "oh, {}"),
    *("{}, Minny", "{}, please", "{} now", "listen, {}", "hey, {}", "one more thing, {}", "uh, {}"),
)
"""Around any request."""

ORDER = (
    *("please {}", "can you {}", "could you {}", "would you {}", "can you please {}", "could you please {}"),
    *("I would like you to {}", "I want you to {}", "will you {}", "would you mind to {}", "{} for me"),
    *("can you {} for me", "hey Minny, can you {}", "Minny, could you {}", "please {} now", "now please {}"),
    *("hello, could you {}", "I need you to {}", "you should {}", "why don't you {}", "go on and {}"),
    *("could you {}, please", "okay, can you {}", "hey, please {}", "let me ask you to {}"),
)
"""Around one that starts with a verb."""

QUESTION = (
    *("can you tell me, {}", "tell me, {}", "I want to ask, {}", "do you know, {}", "let me ask, {}"),
    *("I have a question, {}", "Minny, tell me, {}", "please tell me, {}", "just tell me, {}"),
)

_ORDERING = (
    "tell make say give teach surprise turn switch put read count start help repeat name play sing entertain "
    "book send order translate remind buy stop be let show explain share set call open spell find add check "
    "write take close lock divide begin"
)
_ASKING = "what which who how when where is are do does will can what's"
VERBS, ASKING = frozenset(_ORDERING.split()), frozenset(_ASKING.split())
TRIES = 20


def kept_apart(held_out: frozenset[str]) -> frozenset[tuple[str, ...]]:
    """Phrasings of the checks as they are compared: without case and marks."""
    return frozenset(tuple(spoken_words(text)) for text in held_out)


def expanded(random: Random, pattern: str) -> str:
    """One of the phrasings of a pattern: `[a|b|]` becomes a, b or nothing."""
    said = re.sub(r"\[([^\]]*)\]", lambda choice: random.choice(choice[1].split("|")), pattern)
    return " ".join(said.replace(" '", "'").replace(" ,", ",").split())


def halves(random: Random, text: str, known: Set[str]) -> str | None:
    """The text with a comma where a speaker may hesitate: its beginning is none of the `known` requests."""
    words = text.split()
    cuts = [n for n in range(1, len(words)) if plain(" ".join(words[:n])) not in known]
    if not cuts:
        return None
    cut = random.choice(cuts)
    return " ".join(
        [
            *(word.rstrip(",") for word in words[: cut - 1]),
            words[cut - 1].rstrip(",") + ",",
            *(word.rstrip(",") for word in words[cut:]),
        ]
    )


def hesitates(text: str, known: Set[str]) -> bool:
    """Whether the text has one comma, and what comes before it is none of the `known` requests."""
    return text.count(",") == 1 and plain(text.partition(",")[0]) not in known


def variant(random: Random, phrasing: str, never: frozenset[tuple[str, ...]]) -> str:
    """The phrasing with something around it; as it is when nothing fits beside `never`."""
    first = phrasing.split(maxsplit=1)[0].strip(",").lower()
    around = ANY + (ORDER * 2 if first in VERBS else QUESTION if first in ASKING else ())
    for _ in range(TRIES):
        text = random.choice(around).format(phrasing)
        if tuple(spoken_words(text)) not in never:
            return text
    return phrasing
