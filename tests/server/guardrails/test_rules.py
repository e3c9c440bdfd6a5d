"""What a rule may say, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from server.guardrails.matcher import Matcher
from server.guardrails.rules import BadRule, Rules, make_rule

GOOD: dict[str, Any] = {"name": "n", "listen": ["agent_text"], "phrases": ["x"], "action": "mute"}
HOOK = GOOD | {"action": "webhook", "url": "https://example.org/hook"}
REGEX = {key: value for key, value in GOOD.items() if key != "phrases"}


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (
            GOOD | {"when": 1},
            "when: is no field of a rule; there are name, listen, phrases, regex, action, url",
        ),
        ({"name": "n"}, "action: is missing"),
        (GOOD | {"name": ""}, "name: must be 1 to 64 of A-Z a-z 0-9 space _ . and -, not ''"),
        (GOOD | {"name": 'a"b'}, "name: must be 1 to 64"),
        (GOOD | {"listen": "user"}, "listen: must be a list with at least one text, not 'user'"),
        (GOOD | {"listen": []}, "listen: must be a list with at least one text, not []"),
        (GOOD | {"listen": ["agent"]}, "listen: must be one of user, agent_text, agent_audio, not 'agent'"),
        (GOOD | {"action": "stop"}, "action: must be one of flag, mute, end, webhook, not 'stop'"),
        (GOOD | {"phrases": []}, "phrases: must be a list with at least one text, not []"),
        (GOOD | {"phrases": ["a", 3]}, "phrases: must be texts, and number 2 is 3"),
        (GOOD | {"phrases": ["?!"]}, "phrases: must have 1 to 400 letters or digits, and number 1 is '?!'"),
        (GOOD | {"phrases": ["ab " * 200]}, "phrases: must have 1 to 400"),
        (GOOD | {"regex": "a"}, "regex: stands beside phrases; a rule has one of them"),
        (REGEX, "phrases: is missing; a rule has phrases or regex"),
        (REGEX | {"regex": 3}, "regex: must be a text, not 3"),
        (
            REGEX | {"regex": "(a"},
            "regex: must be one that RE2 takes (no look-around, no backreferences): missing )",
        ),
        (REGEX | {"regex": r"(a)\1"}, "backreferences): invalid escape sequence: \\1"),
        (REGEX | {"regex": "(?=a)b"}, "backreferences): invalid perl operator: (?="),
        (REGEX | {"regex": "a*"}, "regex: must not match the empty text"),
        (
            REGEX | {"regex": "[a-f]{0,900}b[a-g]{0,900}c[a-z]{0,900}"},
            "regex: must compile to at most 2000 steps",
        ),
        (GOOD | {"url": "https://example.org"}, "url: belongs to the action webhook, not to mute"),
        (GOOD | {"action": "webhook"}, "url: is missing"),
        (HOOK | {"url": "example.org"}, "url: must be an address that starts with http:// or https://"),
        (HOOK | {"url": "http://[::1"}, "url: must be an address"),
        (HOOK | {"url": "http://host:port/"}, "url: must be an address"),
    ],
)
def test_a_mistake_names_the_field_and_what_it_may_be(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadRule) as caught:
        make_rule(values)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_rule_listens_where_it_says() -> None:
    rules = Rules((make_rule(GOOD | {"listen": ["user", "agent_audio", "user"]}), make_rule(GOOD)))
    assert rules.all[0].listen == ("user", "agent_audio")
    assert rules.listening("agent_text") == [rules.all[1]]


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "(a|aa)+c", "(.*){20}x", "(a?){200}a{200}b", "(x+x+)+y"]
)
def test_a_regex_that_would_take_for_ever_elsewhere_answers_here(pattern: str) -> None:
    matcher = Matcher(make_rule(REGEX | {"regex": pattern}).find)
    for _ in range(20):
        matcher.word("a" * 199)
    assert matcher.word("b" * 20, whole=False) is None or pattern == "(a|a)*b"
