"""The rules of one session: fragments and words in, verdicts out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet_client.wire import Word
from server.guardrails.guard import Guard, Verdict
from server.guardrails.rules import Rules, make_rule


def rules(*listen: str, **values: Any) -> Rules:
    what = values or {"phrases": ["bank card"]}
    return Rules((make_rule({"name": "n", "listen": list(listen), "action": "flag"} | what),))


def told(verdicts: list[Verdict]) -> list[tuple[int, str]]:
    return [(verdict.frame, verdict.text) for verdict in verdicts]


def play(guard: Guard, pieces: list[str]) -> list[tuple[int, str]]:
    """One piece a frame, as a model writes them."""
    return [each for frame, piece in enumerate(pieces) for each in told(guard.agent_text(frame, piece))]


def test_a_phrase_is_found_over_the_borders_of_pieces() -> None:
    assert play(Guard(rules("agent_text")), [" b", "ank", " c", "ard", " is"]) == [(4, "bank card")]


def test_the_frame_after_the_last_piece_of_a_word_is_soon_enough() -> None:
    assert play(Guard(rules("agent_text")), [" bank", "", "", " card", "", "", " is"]) == [(4, "bank card")]


def test_a_word_that_goes_on_is_not_the_word_it_began_as() -> None:
    assert play(Guard(rules("agent_text")), [" bank", " card", "s", "", ""]) == []


def test_a_word_that_goes_on_after_an_empty_frame_is_read_as_one() -> None:
    guard = Guard(rules("agent_text", phrases=["caf\u00e9"]))
    assert play(guard, [" caf", "", "\u00e9", ""]) == [(3, "cafe")]


def test_the_same_word_twice_fires_twice_and_silence_adds_nothing() -> None:
    guard = Guard(rules("agent_text", phrases=["no"]))
    assert play(guard, [" no", "", "", " no", "", ""]) == [(1, "no"), (4, "no")]


def test_rules_hear_only_where_they_listen() -> None:
    guard = Guard(rules("user"))
    words = [Word("Bank", 160, 300, 0.9), Word("card.", 300, 490, 0.9)]
    assert guard.agent_text(0, " bank card ") == []
    assert guard.words("agent_audio", words) == []
    assert told(guard.words("user", words)) == [(6, "bank card")]


def test_words_of_a_transcriber_fire_though_they_come_one_by_one() -> None:
    guard = Guard(rules("agent_audio"))
    assert guard.words("agent_audio", [Word("bank-", 0, 80, 1.0)]) == []
    assert guard.words("agent_audio", []) == []
    assert told(guard.words("agent_audio", [Word("card", 80, 160, 1.0)])) == [(2, "bank card")]


TEXTS = st.text("bankcrd ,.'X0", max_size=60) | st.lists(
    st.sampled_from([" bank", " card", "s", "Bank", " ", "card!", " a"]), max_size=20
).map("".join)


@given(TEXTS, st.lists(st.integers(0, 80), max_size=10))
@pytest.mark.parametrize(
    "what", [{}, {"phrases": ["a", "card x0"]}, {"regex": r"b\w+( card)?"}, {"regex": r"[abc ]+0"}]
)
def test_fragments_cut_anywhere_fire_the_same(what: dict[str, Any], text: str, cuts: list[int]) -> None:
    whole, cut_up = Guard(rules("agent_text", **what)), Guard(rules("agent_text", **what))
    ends = [*sorted(cuts), len(text)]
    fragments = [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    expected = [*whole.agent_text(0, text), *whole.agent_text(0, "")]
    found = [verdict for each in fragments if each for verdict in cut_up.agent_text(0, each)]
    assert told([*found, *cut_up.agent_text(0, "")]) == told(expected)
