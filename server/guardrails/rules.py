"""One guardrail: where it listens, what it looks for and what it does; checked when it is made.

Phrases match whole words. A regex is RE2's, over words with single spaces between them, and takes time
linear in the text whatever it says. Refuses to know files and sessions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

import re2

from server.guardrails.words import fold, words_of

Listen = Literal["user", "agent_text", "agent_audio"]
"""The transcriber's words of the user; the model's text before it is heard; the transcriber's words of
the agent."""
Action = Literal["flag", "mute", "end", "webhook"]
LISTENS: tuple[Listen, ...] = get_args(Listen)
ACTIONS: tuple[Action, ...] = get_args(Action)
KEYS = ("name", "listen", "phrases", "regex", "action", "url")

Find = Callable[[str, int], Iterator[tuple[int, int]]]
"""Spans of matches in a text of words, in order, from a position on."""

MOST_CHARACTERS = 400
"""Longest match; a matcher keeps no more of the text."""
MOST_STEPS = 2_000
"""Size of a compiled regex. With MOST_CHARACTERS it bounds one search: milliseconds at the worst."""
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 _.-]{0,62}[A-Za-z0-9])?")


class BadRule(ValueError):
    """A rule that cannot be used. `key` is the field's name, `problem` the rest of the sentence."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Rule:
    """listen: one or several. url: of a webhook only. find: how its matches are found."""

    name: str
    listen: tuple[Listen, ...]
    action: Action
    url: str | None = field(repr=False)
    find: Find = field(repr=False)


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of a server, in the order of their file."""

    all: tuple[Rule, ...] = ()

    def listening(self, where: Listen) -> list[Rule]:
        return [rule for rule in self.all if where in rule.listen]


def make_rule(values: dict[str, Any]) -> Rule:
    """A rule from what a file says of it.

    Raises:
        BadRule: an unknown key, a missing one, or a value that is not allowed.
    """
    for key in values:
        if key not in KEYS:
            raise BadRule(key, f"is no field of a rule; there are {', '.join(KEYS)}")
    name = _name(values)
    action: Action = _one_of("action", _needed(values, "action"), ACTIONS)
    return Rule(name, _listen(values), action, _url(values, action), _find(values))


def _needed(values: dict[str, Any], key: str) -> Any:
    if key not in values:
        raise BadRule(key, "is missing")
    return values[key]


def _name(values: dict[str, Any]) -> str:
    name = _needed(values, "name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadRule("name", f"must be 1 to 64 of A-Z a-z 0-9 space _ . and -, not {name!r}")
    return name


def _listen(values: dict[str, Any]) -> tuple[Listen, ...]:
    listen = _some("listen", _needed(values, "listen"))
    return tuple(dict.fromkeys(_one_of("listen", each, LISTENS) for each in listen))


def _one_of(key: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    if not isinstance(value, str) or value not in allowed:
        raise BadRule(key, f"must be one of {', '.join(allowed)}, not {value!r}")
    return value


def _some(key: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise BadRule(key, f"must be a list with at least one text, not {value!r}")
    return value


def _url(values: dict[str, Any], action: Action) -> str | None:
    if action != "webhook":
        if "url" in values:
            raise BadRule("url", f"belongs to the action webhook, not to {action}")
        return None
    url = _needed(values, "url")
    if not isinstance(url, str) or not _is_address(url):
        raise BadRule("url", "must be an address that starts with http:// or https://")
    return url


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or an IPv6 address that is none
        return False


# -- what is looked for ---------------------------------------------------------------------------


def _find(values: dict[str, Any]) -> Find:
    if "phrases" in values and "regex" in values:
        raise BadRule("regex", "stands beside phrases; a rule has one of them")
    if "phrases" in values:
        return _find_phrases([_phrase(n, each) for n, each in enumerate(_some("phrases", values["phrases"]))])
    if "regex" in values:
        return _find_regex(values["regex"])
    raise BadRule("phrases", "is missing; a rule has phrases or regex")


def _phrase(number: int, phrase: Any) -> str:
    if not isinstance(phrase, str):
        raise BadRule("phrases", f"must be texts, and number {number + 1} is {phrase!r}")
    words = " ".join(words_of(phrase))
    if not 0 < len(words) <= MOST_CHARACTERS:
        shown = phrase if len(phrase) <= 40 else phrase[:37] + "..."
        problem = f"must have 1 to {MOST_CHARACTERS} letters or digits, and number {number + 1} is {shown!r}"
        raise BadRule("phrases", problem)
    return words


def _find_phrases(phrases: list[str]) -> Find:
    """Whole words at the end of the text; where several end there, the longest."""
    by_last_word: dict[str, list[str]] = {}
    for phrase in sorted(phrases, key=len, reverse=True):
        by_last_word.setdefault(phrase.rpartition(" ")[2], []).append(phrase)

    def find(text: str, _begin: int) -> Iterator[tuple[int, int]]:
        for phrase in by_last_word.get(text.rpartition(" ")[2], ()):
            start = len(text) - len(phrase)
            if text.endswith(phrase) and (start == 0 or text[start - 1] == " "):
                yield start, len(text)
                return

    return find


def _find_regex(pattern: Any) -> Find:
    if not isinstance(pattern, str) or not pattern:
        raise BadRule("regex", f"must be a text, not {pattern!r}")
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    try:
        regex = re2.compile("".join(c if c.isascii() else fold(c) for c in pattern), options)
    except re2.error as error:
        said = error.args[0].decode(errors="replace") if error.args else ""
        problem = f"must be one that RE2 takes (no look-around, no backreferences): {said}"
        raise BadRule("regex", problem) from None
    if regex.programsize > MOST_STEPS:
        raise BadRule("regex", f"must compile to at most {MOST_STEPS} steps, not {regex.programsize}")
    if regex.search(""):
        raise BadRule("regex", "must not match the empty text")

    def find(text: str, begin: int) -> Iterator[tuple[int, int]]:
        return (match.span() for match in regex.finditer(text, begin))

    return find
