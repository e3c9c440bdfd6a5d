"""The ledger: every word once and in order, and the agent's own text beside it."""

from __future__ import annotations

import pytest

from duet_client.wire import WireError, Word
from server.transcripts.ledger import LAST_WORDS, Ledger, Written


def word(text: str, start_ms: int, length_ms: int = 200) -> Word:
    return Word(text, start_ms, start_ms + length_ms, 0.9)


def texts(words: tuple[Word, ...]) -> list[str]:
    return [each.word for each in words]


def test_what_is_told_again_is_dropped_and_counted() -> None:
    ledger = Ledger()
    first = ledger.append("user", [word("one", 100), word("two", 500)], 700)
    again = ledger.append("user", [word("one", 110), word("two", 480), word("three", 900)], 1_200)
    assert (texts(first.words), first.repeated, first.through_ms) == (["one", "two"], 0, 700)
    assert (texts(again.words), again.repeated, again.through_ms) == (["three"], 2, 1_200)


def test_a_word_that_starts_just_where_the_channel_is_told_to_is_new() -> None:
    ledger = Ledger()
    ledger.append("user", [], 700)
    assert texts(ledger.append("user", [word("now", 700)], 701).words) == ["now"]


def test_the_channels_are_told_independently() -> None:
    ledger = Ledger()
    ledger.append("user", [word("late", 9_000)], 10_000)
    assert texts(ledger.append("agent", [word("early", 10)], 500).words) == ["early"]


def test_going_back_in_time_is_refused_and_changes_nothing() -> None:
    ledger = Ledger()
    ledger.append("agent", [word("one", 100)], 700)
    with pytest.raises(WireError, match="told through 700, not 699") as refused:
        ledger.append("agent", [], 699)
    assert (refused.value.code, refused.value.param) == ("out_of_order", "through_ms")
    assert ledger.state()["agent"]["through_ms"] == 700


@pytest.mark.parametrize(
    ("words", "param"),
    [
        ([word("b", 500), word("a", 499)], "words.1.start_ms"),
        ([word("a", 100), word("late", 1_000)], "words.1.start_ms"),
    ],
)
def test_words_out_of_order_or_beyond_what_is_told_are_refused_whole(words: list[Word], param: str) -> None:
    ledger = Ledger()
    with pytest.raises(WireError) as refused:
        ledger.append("user", words, 1_000)
    assert (refused.value.code, refused.value.param) == ("invalid_value", param)
    assert ledger.state()["user"] == {"through_ms": 0, "last": []}


def test_who_attaches_is_shown_the_last_words_and_how_far_each_channel_is_told() -> None:
    ledger = Ledger()
    ledger.append("user", [word(f"w{n}", n * 10) for n in range(30)], 300)
    state = ledger.state()
    assert state["agent"] == {"through_ms": 0, "last": []}
    assert state["user"]["through_ms"] == 300
    assert [each["word"] for each in state["user"]["last"]] == [f"w{n}" for n in range(30 - LAST_WORDS, 30)]
    assert state["user"]["last"][-1] == {"word": "w29", "start_ms": 290, "end_ms": 490, "probability": 0.9}


def test_pieces_of_the_models_text_become_words_with_the_span_of_their_frames() -> None:
    ledger = Ledger()
    told = [ledger.agent_text(frame, text) for frame, text in [(2, " Hel"), (3, "lo"), (7, " there")]]
    assert told == [[], [], [Written("Hello", 160, 320)]]
    assert ledger.end_of_text() == [Written("there", 560, 640)]
    assert ledger.end_of_text() == []


def test_one_piece_may_hold_several_words() -> None:
    ledger = Ledger()
    assert [each.text for each in ledger.agent_text(0, " of the  year ")] == ["of", "the", "year"]


def test_a_text_without_blanks_does_not_grow_for_ever() -> None:
    ledger = Ledger()
    written = [each for frame in range(100) for each in ledger.agent_text(frame, "あ")]
    assert [len(each.text) for each in written] == [40, 40]


def test_an_agent_that_says_something_else_is_noticed_once() -> None:
    ledger = Ledger()
    for n in range(60):
        ledger.agent_text(n * 5, f" written{n}")
        ledger.append("agent", [word(f"heard{n}", n * 400)], n * 400 + 400)
    assert [round(each.worst, 1) for each in ledger.disagreements()] == [1.0]
    assert ledger.disagreements() == []
