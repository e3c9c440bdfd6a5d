"""A call as it is kept for its observers."""

from __future__ import annotations

import base64
import json
import struct

import numpy as np

from audio import wav
from audio.frames import FRAME_SAMPLES
from duet_client import Frame
from duet_client.wire import Muted
from server.sideband.track import RING_FRAMES, Pair, Track

RNG = np.random.default_rng(1)
USER, AGENT = RNG.uniform(-1.2, 1.2, (2, FRAME_SAMPLES)).astype(np.float32)


def test_a_binary_frame_is_its_index_and_the_samples_that_a_recording_would_hold() -> None:
    message = Pair(70_000, USER, AGENT).binary
    assert len(message) == 7_684
    assert struct.unpack_from("<I", message)[0] == 70_000
    parts = np.frombuffer(message, "<i2", offset=4).reshape(2, FRAME_SAMPLES)
    assert parts.T.tobytes() == wav.pack(USER, AGENT)


def test_the_client_reads_the_frame_that_was_written() -> None:
    frame = Frame.parse(Pair(7, USER, AGENT).binary)
    kept = wav.unpack(wav.pack(USER, AGENT))
    assert frame.index == 7
    assert np.array_equal(frame.user, kept[:, 0])
    assert np.array_equal(frame.agent, kept[:, 1])


def test_events_hold_the_same_samples_as_the_binary_message() -> None:
    pair = Pair(0, USER, AGENT)
    user, agent = map(json.loads, pair.texts)
    assert base64.b64decode(user["audio"]) + base64.b64decode(agent["delta"]) == pair.binary[4:]


def test_no_more_than_ten_seconds_are_kept_in_memory() -> None:
    track = Track()
    for _ in range(300):
        track.add(USER, AGENT)
    assert (track.first, track.frames) == (175, 300)
    assert track.pair(174) is None
    assert track.pair(300) is None
    newest = track.pair(299)
    assert newest is not None
    assert newest.index == 299
    assert RING_FRAMES == 125


def test_an_answer_bears_the_asker_s_id_for_the_asker_alone() -> None:
    track, asker, other = Track(), object(), object()
    track.say(Muted(), asker, "c_9")
    told = track.event(0)
    assert told is not None
    assert json.loads(told.text(asker))["client_event_id"] == "c_9"
    assert "client_event_id" not in json.loads(told.text(other))
    assert json.loads(told.text(asker))["event_id"] == json.loads(told.text(other))["event_id"]
