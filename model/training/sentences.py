"""Sentences of an open vocabulary, drawn from word lists by a seeded grammar.

Every English sound in many contexts is what the codec needs of them; sense is not. Pure.
"""

from __future__ import annotations

import re
from random import Random

SLOT = re.compile(r"\{(\w+)\}")
PATTERNS = (
    "{people} {verbs} the {adjectives} {things} {places}.",
    "{people} {verbs} {numbers} {plurals} {times}.",
    "{times}, {people} {moves} {places}.",
    "{animals} {moves} {adverbs} {places}.",
    "{people} {adverbs} {verbs} a {adjectives} {things}.",
    "Would you like to {plans} {times}?",
    "Why did {people} throw away the {things}?",
    "{people} could not {plans}, because {reasons}.",
    "The {adjectives} {things} and the {things} are {places}.",
    "Do you think that {people} should {plans}?",
    "There were {numbers} {adjectives} {plurals} {places}.",
    "{people} {moves} home {adverbs}, but {reasons}.",
    "Give the {things} to {people}, please.",
    "{animals} {verbs} the {things}, and {people} {verbs} the {plurals}.",
    "When {reasons}, {people} {moves} {places}.",
    "I would {adverbs} {plans} with {people}.",
    "No, the {adjectives} one costs {numbers} dollars.",
    "Is this {adjectives} {things} yours?",
    "Perhaps {people} will {plans} {times}.",
    "{numbers} {plurals}, {numbers} {plurals} and one {things}.",
)


def sentence(random: Random, words: dict[str, list[str]]) -> str:
    """One sentence; a slot takes any word of its kind."""
    filled = SLOT.sub(lambda slot: random.choice(words[slot[1]]), random.choice(PATTERNS))
    return filled[0].upper() + filled[1:]


def sentences(count: int, seed: str, words: dict[str, list[str]], never: frozenset[str]) -> list[str]:
    """`count` different sentences, none of them in `never`; the same for the same seed."""
    random = Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        drawn = sentence(random, words)
        if drawn not in never:
            found[drawn] = None
    return list(found)
