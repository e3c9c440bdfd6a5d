"""What was said, and when."""

from __future__ import annotations

from duet_client import wire
from duet_client.transcript import Span, Transcript, words


def test_fragments_become_words_with_the_time_of_all_their_pieces() -> None:
    deltas = [Span(" hel", 0, 80), Span("lo", 80, 160), Span(" wor", 400, 480), Span("ld.", 480, 560)]
    assert words(deltas) == [Span("hello", 0, 160), Span("world.", 400, 560)]


def test_the_first_word_needs_no_space_and_a_lone_space_ends_one() -> None:
    deltas = [Span("he", 0, 80), Span(" ", 80, 160), Span("llo", 160, 240)]
    assert words(deltas) == [Span("he", 0, 80), Span("llo", 160, 240)]


def test_a_fragment_of_several_words_gives_each_its_time() -> None:
    assert words([Span("so be it", 0, 80), Span("!", 80, 160)]) == [
        Span("so", 0, 80),
        Span("be", 0, 80),
        Span("it!", 0, 160),
    ]


def test_the_file_holds_both_channels_the_session_and_its_usage() -> None:
    transcript = Transcript()
    for event in (
        wire.SessionStarted({"id": "sess_1"}),
        wire.Info("voice_unsupported", "One voice."),
        wire.InputTranscriptDelta("hi", 80, 160),
        wire.OutputTranscriptDelta(" yes", 240, 320),
        wire.UsageUpdated(3.5, 0.5),
        wire.SessionClosed("expired", {"id": "sess_1", "status": "active"}, 4.0),
    ):
        transcript.add(event)
    found = transcript.to_json(duration_s=4.0)
    assert found["session"] == {"id": "sess_1", "status": "active"}
    assert (found["reason"], found["duration_s"]) == ("expired", 4.0)
    assert found["usage"] == {"seconds": 4.0, "usage_ratio": 0.5}
    user, agent = found["channels"]
    assert (user["channel"], user["speaker"], user["text"]) == (0, "user", "hi")
    assert agent["words"] == [{"text": "yes", "start_ms": 240, "end_ms": 320}]
    assert agent["deltas"] == [{"text": " yes", "start_ms": 240, "end_ms": 320}]
    assert [(notice["kind"], notice["code"]) for notice in found["notices"]] == [
        ("info", "voice_unsupported")
    ]
