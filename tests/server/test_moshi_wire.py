"""The Moshi wire: kinds of messages, Ogg-Opus both ways."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from audio.frame_flags import FrameFlags
from audio.frames import FRAME_SAMPLES
from audio.opus import OggOpusReader, OggOpusWriter
from duet_client.wire import Close, Mute, Unmute
from model.config import Sampling
from server import endings
from server.actions import Ahead, Finish
from server.moshi_query import MoshiOptions
from server.moshi_wire import PIECE_BYTES, MoshiCall
from tests.server.calls import Desk, setup
from tests.server.sessions import LIMITS


def desk(record: Any = "store") -> Desk:
    options = MoshiOptions(Sampling(seed=7), ("pad_mult",))
    return Desk(MoshiCall(setup(record), options, 0.0))


def payloads(session: Desk, kind: int) -> list[bytes]:
    return [data[1:] for data in session.sent if isinstance(data, bytes) and data[0] == kind]


def opus(frames: int) -> bytes:
    """A tone as one Ogg-Opus stream."""
    writer = OggOpusWriter()
    time = np.arange(FRAME_SAMPLES * frames) / 24_000
    samples = (0.5 * np.sin(2 * np.pi * 440 * time)).astype(np.float32)
    return b"".join(writer.push(block) for block in np.split(samples, frames))


def test_the_handshake_is_one_byte_and_the_metadata_says_what_was_resolved_and_ignored() -> None:
    session = desk()
    assert session.sent[0] == b"\x00"
    (metadata,) = [json.loads(payload) for payload in payloads(session, 4)]
    assert metadata["sampling"]["seed"] == 7
    assert metadata["ignored"] == ["pad_mult"]
    assert metadata["model"] == "echo"


def test_a_tone_comes_back_as_a_tone_a_frame_later() -> None:
    session = desk()
    session.say(b"\x01" + opus(25))
    reader = OggOpusReader()
    heard = np.concatenate([reader.push(payload) for payload in payloads(session, 1)])
    assert len(heard) >= 20 * FRAME_SAMPLES
    loudness = np.sqrt(np.mean(heard[8 * FRAME_SAMPLES : 20 * FRAME_SAMPLES] ** 2))
    assert 0.3 < loudness < 0.4  # 0.5 / sqrt(2)


def test_being_ahead_has_no_message_here() -> None:
    session = desk()
    before = len(session.sent)
    session.perform(session.call._render([Ahead()]))
    assert len(session.sent) == before


def test_pages_may_be_split_anywhere() -> None:
    whole, split = desk(), desk()
    stream = opus(12)
    whole.say(b"\x01" + stream)
    for at in range(0, len(stream), 7):
        split.say(b"\x01" + stream[at : at + 7])
    assert payloads(split, 1) == payloads(whole, 1)
    assert len(whole.records) == len(split.records) >= 10


def test_a_long_message_is_decoded_in_pieces_and_what_a_hang_up_leaves_of_it_is_counted() -> None:
    audio = opus(100)
    call = desk().call
    call.receive(b"\x01" + audio, 0.0)
    assert call.has_more
    (finish,) = [deed for deed in call.end(endings.CONNECTION_LOST, 0.0) if isinstance(deed, Finish)]
    assert not call.has_more
    assert finish.summary["unheard_bytes"] == len(audio) - PIECE_BYTES > 0


def test_text_goes_out_as_the_model_says_it() -> None:
    session = desk()
    session.words = {1: " hello", 2: "é"}
    session.say(b"\x01" + opus(12))
    assert payloads(session, 2) == [b" hello", "é".encode()]


def test_a_ping_is_answered_and_what_nobody_knows_is_discarded_and_counted() -> None:
    session = desk("all")
    session.say(b"\x06")
    assert session.sent[-1] == b"\x06"
    before = len(session.sent)
    for message in (b"", b"\x09colour", b"\x03\x00", "text"):
        session.say(message)
    assert len(session.sent) == before
    assert isinstance(session.call, MoshiCall)
    assert session.call.discarded == 4


def test_audio_that_is_not_opus_is_told_as_an_error_and_ends_the_session() -> None:
    session = desk()
    session.say(b"\x01" + b"this is not an Ogg page" * 10)
    (told,) = payloads(session, 5)
    assert told.startswith(b"the audio cannot be decoded: ")
    assert session.ended is not None
    assert session.ended.ending.close_code == 1008


def test_only_a_server_that_records_all_sessions_records_these() -> None:
    assert not desk("store").joins[0].recorded
    join = desk("all").joins[0]
    assert join.recorded
    assert join.metadata["wire"] == "moshi"


def test_a_silent_client_hears_something_long_before_it_gives_up_after_ten_seconds() -> None:
    call = MoshiCall(replace(setup(), limits=LIMITS), MoshiOptions(Sampling(), ()), 0.0)
    session = Desk(call)
    for tick in range(1, 51):  # 5 s
        session.now = tick / 10
        session.perform(call.tick(session.now))
    assert payloads(session, 1) != []
    assert session.records[0].flags & FrameFlags.SILENCE_FED


def test_a_client_that_an_observer_mutes_is_told_as_metadata() -> None:
    session = desk()
    for command, muted in ((Mute(), True), (Unmute(), False)):
        session.perform(session.call.control(command, 0.0))
        assert json.loads(payloads(session, 4)[-1]) == {"muted": muted}


def test_an_observer_ends_a_call_as_its_client_would() -> None:
    session = desk()
    session.perform(session.call.control(Close(), 0.0))
    assert session.ended is not None
    assert session.ended.ending.reason == "close_requested"
