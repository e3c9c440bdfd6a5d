"""The final transcript as one object: utterances in time, the agent's own text beside what was heard."""

from __future__ import annotations

from typing import Any

from server.transcripts.document import Counts, body, text_line, utterance, word_line


def word(text: str, start_ms: int, end_ms: int) -> dict[str, Any]:
    return {"word": text, "start_ms": start_ms, "end_ms": end_ms, "probability": 0.9}


LINES = [
    word_line("user", word("Hello", 100, 400)),
    word_line("user", word("there.", 450, 800)),
    word_line("agent", word("High", 1_000, 1_200)),
    word_line("user", word("Bye.", 2_000, 2_300)),
    word_line("agent", word("goodbye", 3_000, 3_500)),
    text_line("Hi!", 880, 1_040),
    text_line("Goodbye.", 2_880, 3_040),
    text_line("Unsaid.", 4_000, 4_080),
]


def test_live_words_are_cut_at_pauses_and_told_in_time() -> None:
    told = body(LINES, None)["utterances"]
    assert [(each["channel"], each["start_ms"], each["end_ms"], each["text"]) for each in told] == [
        ("user", 100, 800, "Hello there."),
        ("agent", 1_000, 1_200, "High"),
        ("user", 2_000, 2_300, "Bye."),
        ("agent", 3_000, 3_500, "goodbye"),
    ]


def test_what_the_model_wrote_stands_beside_what_was_heard_of_it_and_nothing_of_it_is_lost() -> None:
    content = body(LINES, None)
    assert [each.get("written") for each in content["utterances"]] == [None, "Hi!", None, "Goodbye. Unsaid."]
    assert [each["text"] for each in content["agent_text"]] == ["Hi!", "Goodbye.", "Unsaid."]


def test_the_last_pass_replaces_the_live_words_and_keeps_the_models() -> None:
    heard = [utterance("agent", 950, 1_250, [word("Hi!", 1_000, 1_200)])]
    content = body(LINES, heard)
    assert [(each["channel"], each["text"], each["written"]) for each in content["utterances"]] == [
        ("agent", "Hi!", "Hi! Goodbye. Unsaid.")
    ]


def test_a_call_without_words_has_an_empty_transcript() -> None:
    assert body([], None) == {"utterances": [], "agent_text": []}
    assert [each["text"] for each in body([text_line("Hm.", 0, 80)], [])["agent_text"]] == ["Hm."]


def test_counts_tell_how_much_was_said_without_what() -> None:
    assert Counts(LINES).describe() == {
        "user": {"words": 3, "spoken_ms": 950},
        "agent": {"words": 2, "spoken_ms": 700, "written_words": 3},
    }
