"""The Live wire: commands in, events out, in the words of the vocabulary."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from audio.frames import FRAME_SAMPLES, silence
from duet_client.wire import Word
from model.engine import FrameResult, Ticket
from server import endings
from server.actions import Deed, Dropped, Finish, Missed, Publish, Send, Submit
from server.live import LiveCall, shortfall
from server.sideband import rendering
from tests.server.calls import Desk, setup
from tests.server.sessions import LIMITS

FRAME_BYTES = 2 * FRAME_SAMPLES


def desk(binary: bool = False) -> Desk:
    return Desk(LiveCall(setup(), binary, 0.0))


def running(**session: Any) -> Desk:
    made = desk()
    made.start(**session)
    return made


def tone(frames: int, level: int = 1000) -> bytes:
    return np.full(frames * FRAME_SAMPLES, level, "<i2").tobytes()


def append(audio: bytes) -> dict[str, Any]:
    return {"type": "session.input_audio.append", "audio": base64.b64encode(audio).decode()}


def heard(desk: Desk) -> bytes:
    """All audio that came back in events."""
    deltas = [event for event in desk.events if event["type"] == "session.output_audio.delta"]
    return b"".join(base64.b64decode(event["delta"]) for event in deltas)


def test_the_first_answer_is_the_resolved_session() -> None:
    started = running(duet={"text_temperature": 0.1, "seed": 5}).event("session.started")
    session = started["session"]
    assert started["event_id"] == "event_1"
    assert session["id"] == "sess_" + "0" * 32
    assert session["expires_at"] == 1_700_086_400
    assert (session["model"], session["status"], session["store"]) == ("echo", "active", False)
    assert session["audio"]["format"] == {"type": "audio/pcm", "rate": 24000}
    assert session["duet"]["text_temperature"] == 0.1
    assert session["duet"]["seed"] == 5


def test_audio_comes_back_frame_by_frame_in_the_sessions_format() -> None:
    session = running()
    session.say(append(tone(2)))
    assert heard(session) == bytes(FRAME_BYTES) + tone(1)
    assert all("event_id" not in e for e in session.events if e["type"] == "session.output_audio.delta")


def test_audio_may_be_cut_anywhere_even_within_a_sample() -> None:
    session = running()
    audio = tone(3)
    for at in range(0, len(audio), 777):
        session.say(append(audio[at : at + 777]))
    assert heard(session) == bytes(FRAME_BYTES) + tone(2)


def phone_call() -> LiveCall:
    """A running call whose audio is binary mu-law, 8,000 bytes a second."""
    call = LiveCall(setup(), True, 0.0)
    session = {"model": "default", "audio": {"format": {"type": "audio/pcmu", "rate": 8_000}}}
    call.receive(json.dumps({"type": "session.start", "session": session}), 0.0)
    call.joined(0.0)
    return call


def of_kind(kind: type[Deed], deeds: list[Deed]) -> list[Any]:
    return [deed for deed in deeds if isinstance(deed, kind)]


def test_a_message_of_too_much_audio_is_refused_and_counted_before_any_of_it_is_decoded() -> None:
    call = phone_call()
    out = call.receive(bytes(1 << 20), 0.0)  # 131.072 s, 1,638.4 frames
    assert of_kind(Submit, out) == []
    assert of_kind(Dropped, out) == [Dropped(1_638)]
    (finish,) = of_kind(Finish, out)
    assert finish.ending is endings.TOO_MUCH_AUDIO
    assert finish.summary["counts"]["dropped"] == 1_638
    assert not call.has_more


def test_a_long_message_is_decoded_a_second_at_a_time_and_nothing_of_it_is_lost() -> None:
    call = phone_call()
    pieces = [call.receive(bytes(14_400), 0.0)]  # 1.8 s, 22.5 frames
    while call.has_more:
        pieces.append(call.go_on(0.0))
    pieces.append(call.receive('{"type":"session.close"}', 0.0))
    assert [len(of_kind(Submit, piece)) for piece in pieces] == [12, 10, 1]


def test_what_was_not_decoded_yet_when_somebody_hangs_up_is_counted_as_dropped() -> None:
    call = phone_call()
    call.receive(bytes(240_000), 0.0)  # 30 s, of which one is heard
    out = call.end(endings.REMOTE_HANGUP, 0.0)
    assert of_kind(Dropped, out) == [Dropped(29 * 25 // 2)]
    assert not call.has_more


def test_binary_audio_goes_and_comes_as_binary_messages_and_base64_is_taken_as_well() -> None:
    session = desk(binary=True)
    session.start()
    session.say(tone(1))
    session.say(append(tone(1)))
    audio = [data for data in session.sent if isinstance(data, bytes)]
    assert audio == [bytes(FRAME_BYTES), tone(1)]
    assert "session.output_audio.delta" not in session.types


def test_binary_audio_that_nobody_agreed_on_is_an_error_and_the_session_survives() -> None:
    session = running()
    session.say(tone(1))
    assert session.codes("error") == ["unexpected_binary"]
    session.say(append(tone(1)))
    assert len(heard(session)) == FRAME_BYTES


def test_of_unasked_binary_audio_the_first_and_each_hundredth_message_is_told_and_all_are_counted() -> None:
    session = running()
    for _ in range(250):
        session.say(tone(1))
    messages = [event["error"]["message"] for event in session.events if event["type"] == "error"]
    asked = "binary audio must be asked for with ?audio=binary"
    assert messages == [
        asked,
        f"{asked}; 100 binary messages were ignored so far",
        f"{asked}; 200 binary messages were ignored so far",
    ]
    (finish,) = of_kind(Finish, session.call.end(endings.CLOSE_REQUESTED, 0.0))
    assert finish.summary["discarded_messages"] == 250


def test_a_client_that_is_ahead_of_the_clock_is_told_once() -> None:
    call = LiveCall(replace(setup(), limits=LIMITS), True, 0.0)
    call.receive('{"type":"session.start","session":{"model":"default"}}', 0.0)
    call.joined(0.0)
    out = [deed for piece in range(60) for deed in call.receive(tone(1), piece / 1000)]
    events = [json.loads(deed.data) for deed in of_kind(Send, out)]
    (info,) = events
    assert (info["type"], info["code"]) == ("info", "input_ahead")
    assert "--pace free" in info["message"]


def test_where_the_users_audio_was_filled_up_is_told_with_its_span_and_to_observers_too() -> None:
    session = Desk(LiveCall(replace(setup(), limits=LIMITS), False, 0.0))
    session.start()
    for tenth in range(100, 131):
        session.now = tenth / 10
        session.perform(session.call.tick(session.now))
    infos = [event for event in session.events if event["type"] == "info"]
    assert [(info["code"], info["start_ms"], info["end_ms"]) for info in infos] == [("input_filled", 0, 2000)]
    deeds = [*session.call.receive(json.dumps(append(tone(1))), 13.1), *session.call.go_on(13.1)]
    (told,) = [deed.said for deed in of_kind(Publish, deeds)]
    assert told == Missed("filled", 25, 13)
    assert list(rendering.events(told, {})) == [shortfall(told)]
    assert (shortfall(told).start_ms, shortfall(told).end_ms) == (2000, 3040)


def test_audio_that_was_dropped_is_told_where_the_call_ended() -> None:
    info = shortfall(Missed("dropped", 30, 5))
    assert (info.code, info.start_ms, info.end_ms) == ("input_dropped", 2400, 2400)
    assert info.message == "400 ms of audio came and were not heard"


@pytest.mark.parametrize(
    "first",
    ['{"type": "session.close"}', '{"type": "nonsense"}', "not json", b"binary"],
)
def test_anything_before_the_start_is_an_error_and_ends_the_connection(first: str | bytes) -> None:
    session = desk(binary=True)
    session.say(first)
    assert session.types == ["error"]
    assert session.ended is not None
    assert session.ended.ending.close_code == 1008


def test_a_bad_start_names_the_field_and_ends_the_connection() -> None:
    session = desk()
    session.say({"type": "session.start", "event_id": "mine", "session": {"model": "other"}})
    error = session.event("error")
    assert error["error"]["param"] == "session.model"
    assert error["error"]["client_event_id"] == "mine"
    assert "default or echo" in error["error"]["message"]
    assert session.ended is not None
    assert session.joins == []


def test_a_second_start_is_an_error_and_the_session_survives() -> None:
    session = running()
    session.start()
    assert session.codes("error") == ["already_started"]
    assert session.ended is None


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ({"type": "session.instructions.append", "content": "x", "delegation_id": None}, "unsupported"),
        ({"type": "session.update", "session": {}}, "unsupported"),
        ({"type": "response.create"}, "unsupported"),
        ({"type": "session.dance"}, "unknown_type"),
        ({"type": "session.input_audio.append", "audio": "#"}, "invalid_audio"),
        ({"type": "session.input_audio.append"}, "missing_field"),
    ],
)
def test_a_command_that_cannot_be_carried_out_is_answered_never_ignored(
    command: dict[str, Any], code: str
) -> None:
    session = running()
    session.say(command | {"event_id": "mine"})
    assert session.codes("error") == [code]
    assert session.event("error")["error"]["client_event_id"] == "mine"
    assert session.ended is None


def test_mute_and_unmute_are_acknowledged_and_silence_the_user_for_the_model() -> None:
    session = running()
    session.say({"type": "session.input_audio.mute", "event_id": "m1"})
    session.say(append(tone(1)))
    session.say({"type": "session.input_audio.unmute", "event_id": "m2"})
    session.say(append(tone(2)))
    assert session.event("session.input_audio.muted")["client_event_id"] == "m1"
    assert session.event("session.input_audio.unmuted")["client_event_id"] == "m2"
    assert heard(session) == bytes(2 * FRAME_BYTES) + tone(1)


def test_words_carry_the_times_of_their_frame() -> None:
    session = running()
    session.words = {2: " hello"}
    session.say(append(tone(4)))
    event = session.event("session.output_transcript.delta")
    assert (event["delta"], event["start_ms"], event["end_ms"]) == (" hello", 160, 240)


def test_a_close_answers_the_started_frame_and_then_says_usage_and_closed() -> None:
    session = running()
    session.say(append(tone(1) + tone(1)[:1000]))
    session.say({"type": "session.close", "event_id": "bye"})
    assert len(heard(session)) == 2 * FRAME_BYTES
    assert session.types[-2:] == ["session.usage.updated", "session.closed"]
    closed = session.event("session.closed")
    assert closed["reason"] == "close_requested"
    assert closed["usage"] == {"seconds": 0.16}
    assert closed["client_event_id"] == "bye"
    assert closed["session"] == session.event("session.started")["session"]
    assert session.ended is not None
    assert session.ended.ending.close_code == 1000
    assert session.records[-1].flags.name == "PADDED_INPUT"


def test_event_ids_are_never_used_twice() -> None:
    session = running()
    for _ in range(3):
        session.say(append(tone(125)))
    session.say("{")
    session.say({"type": "session.close"})
    ids = [event["event_id"] for event in session.events if "event_id" in event]
    assert len(ids) == len(set(ids)) > 5


def test_a_draining_server_tells_until_when_the_session_may_go_on() -> None:
    session = running()
    session.perform(session.call.drain(60.0))
    info = session.event("info")
    assert info["code"] == "draining"
    assert "2023-11-14T22:14:50Z" in info["message"]


def test_a_connection_that_asked_for_nothing_yet_is_closed_when_the_server_drains() -> None:
    session = desk()
    session.perform(session.call.drain(0.0))
    assert session.ended is not None
    assert session.ended.ending.close_code == 1001


def test_a_recording_knows_who_spoke_over_what() -> None:
    session = running(store=True, duet={"seed": 3})
    metadata = session.joins[0].metadata
    assert session.joins[0].recorded
    assert metadata["wire"] == "live"
    assert metadata["model"]["name"] == "echo"
    assert metadata["model"]["sampling"]["seed"] == 3
    assert metadata["audio_format"] == {"type": "audio/pcm", "rate": 24000}
    assert metadata["started_unix_s"] == 1_700_000_000.0
    assert json.dumps(metadata)


def test_whoever_closes_twice_is_answered_with_the_first_ones_id() -> None:
    call = LiveCall(setup(), True, 0.0)
    call.receive('{"type":"session.start","session":{"model":"default"}}', 0.0)
    call.joined(0.0)
    call.receive(tone(1), 0.0)
    for event_id in ("first", "second"):
        call.receive(json.dumps({"type": "session.close", "event_id": event_id}), 0.0)
    call.answer(FrameResult(Ticket(0, 1), 0, silence(), "", -1, 0.0), 0.0)
    said = [json.loads(deed.data) for deed in call.stored(0.0) if isinstance(deed, Send)]
    assert said[-1]["type"] == "session.closed"
    assert said[-1]["client_event_id"] == "first"


def test_every_event_but_audio_is_published_for_observers_too() -> None:
    call = LiveCall(setup(), True, 0.0)
    call.receive('{"type":"session.start","session":{"model":"default"}}', 0.0)
    call.joined(0.0)
    call.receive(tone(1), 0.0)
    deeds = [
        *call.answer(FrameResult(Ticket(0, 1), 0, silence(), " hi", -1, 0.0), 0.0),
        *call.receive('{"type":"session.input_audio.mute"}', 0.0),
        *call.receive('{"type":"response.create"}', 0.0),
        *call.words("user", (Word("hello", 0, 80, 1.0),), 80, 0.0),
        *call.receive('{"type":"session.close"}', 0.0),
        *call.stored(0.0),
    ]
    published = [type(deed.said).__name__ for deed in deeds if isinstance(deed, Publish)]
    sent = [json.loads(deed.data)["type"] for deed in deeds if isinstance(deed, Send) and not deed.frames]
    assert published == ["AgentText", "MuteSet", "Problem", "Words", "Usage", "Closed"]
    assert sent == [
        "session.output_transcript.delta",
        "session.input_audio.muted",
        "error",
        "session.input_transcript.delta",
        "session.usage.updated",
        "session.closed",
    ]
