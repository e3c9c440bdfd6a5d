"""One observer's way through a call: everything once, in order, and the truth about what it missed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.frames import FRAME_MS
from duet_client.wire import Info, UsageUpdated
from server.sideband.cursor import Audio, Cursor, Read
from server.sideband.track import EVENTS_FORGOTTEN, EVENTS_KEPT, RING_FRAMES, Pair, Track

QUIET = np.zeros(1, np.float32)
"""What a frame holds does not matter here."""


class Scene:
    """A call, all of it on disk, and one observer. got: what it was sent."""

    def __init__(self, from_frame: int | None, before: int, audio: Audio = "binary") -> None:
        self.track = Track()
        self.go_on(before)
        self.missed: list[int] = []
        self.cursor = Cursor(self.track, self, audio, from_frame, self.missed.append)
        self.got: list[Any] = []
        self.on_disk = True

    def go_on(self, frames: int) -> None:
        """So many frames, each followed by an event that bears its number."""
        for _ in range(frames):
            number = self.track.frames
            self.track.add(QUIET, QUIET)
            self.track.say(UsageUpdated(number))

    def read(self, messages: int) -> None:
        while messages > 0:
            message = self.cursor.next()
            if message is None:
                return
            if isinstance(message, Read):
                self.cursor.take(self._disk(message))
                continue
            self.got.append(message if isinstance(message, bytes) else json.loads(message))
            messages -= 1

    def _disk(self, read: Read) -> list[Pair]:
        numbers = range(read.first, read.first + read.frames) if self.on_disk else range(0)
        return [Pair(number, QUIET, QUIET) for number in numbers]

    @property
    def frames(self) -> list[int]:
        return [int.from_bytes(each[:4], "little") for each in self.got if isinstance(each, bytes)]

    def events(self, kind: str) -> list[Any]:
        return [each for each in self.got if isinstance(each, dict) and each["type"] == kind]

    @property
    def told(self) -> list[int]:
        return [int(each["usage"]["seconds"]) for each in self.events("session.usage.updated")]


BITS = st.lists(st.tuples(st.integers(0, 150), st.integers(0, 300)), max_size=4)


@settings(max_examples=15)
@given(st.none() | st.integers(0, 300), st.integers(0, 200), BITS)
def test_frames_and_gaps_together_are_the_call_from_the_first_frame_to_the_last(
    from_frame: int | None, before: int, steps: list[tuple[int, int]]
) -> None:
    scene = Scene(from_frame, before)
    first = scene.cursor.frame
    for more, read in steps:
        scene.go_on(more)
        scene.read(read)
    scene.read(10_000)
    spans = [(frame, frame + 1) for frame in scene.frames]
    spans += [(gap["from_ms"] // FRAME_MS, gap["to_ms"] // FRAME_MS) for gap in scene.events("duet.gap")]
    at = first
    for start, end in sorted(spans):
        assert start == at
        at = end
    assert at == scene.track.frames
    assert sum(scene.missed) == scene.track.frames - first - len(scene.frames)
    assert scene.told == list(range(first, scene.track.frames))


@settings(max_examples=5)
@given(st.integers(0, 40), BITS)
def test_whoever_reads_the_past_misses_nothing_however_slowly(
    before: int, steps: list[tuple[int, int]]
) -> None:
    scene = Scene(0, before + RING_FRAMES + 1)
    for more, _ in steps:
        scene.go_on(more)
        scene.read(1)
    scene.track.closed = True
    scene.read(10_000)
    assert scene.frames == list(range(scene.track.frames))


def test_an_event_comes_after_the_frame_that_it_followed() -> None:
    scene = Scene(None, 3)
    scene.go_on(2)
    scene.read(100)
    assert [each if isinstance(each, dict) else "frame" for each in scene.got] == [
        "frame",
        scene.got[1],
        "frame",
        scene.got[3],
    ]
    assert scene.told == [3, 4]


def test_who_asks_for_a_time_that_has_not_come_begins_with_what_comes_next() -> None:
    scene = Scene(900, 10)
    scene.go_on(1)
    scene.read(100)
    assert scene.frames == [10]


def test_a_live_observer_may_owe_ten_seconds_and_not_one_frame_more() -> None:
    scene = Scene(None, 0)
    scene.go_on(125)
    scene.read(1_000)
    assert scene.frames == list(range(125))
    scene.go_on(126)
    scene.read(1_000)
    assert [(gap["from_ms"], gap["to_ms"]) for gap in scene.events("duet.gap")] == [(10_000, 10_080)]
    assert scene.missed == [1]


def test_what_the_disk_has_lost_is_told_as_a_gap() -> None:
    scene = Scene(0, 200)
    scene.on_disk = False
    scene.read(1_000)
    assert [(gap["from_ms"], gap["to_ms"]) for gap in scene.events("duet.gap")] == [(0, 75 * FRAME_MS)]
    assert scene.frames == list(range(75, 200))


def test_a_frame_as_events_is_the_user_s_then_the_agent_s_with_its_times() -> None:
    scene = Scene(None, 5, "events")
    scene.go_on(1)
    scene.read(3)
    user, agent, _ = scene.got
    assert user["type"] == "session.input_audio.append"
    assert agent["type"] == "session.output_audio.delta"
    assert (agent["start_ms"], agent["end_ms"]) == (400, 480)
    assert "event_id" not in user
    assert "event_id" not in agent


def test_who_wants_no_audio_gets_every_event_and_misses_nothing() -> None:
    scene = Scene(100, 300, "none")
    scene.on_disk = False
    scene.read(1_000)
    scene.go_on(300)
    scene.read(1_000)
    assert scene.told == list(range(100, 600))
    assert len(scene.got) == 500
    assert scene.missed == []


def test_an_observer_s_own_messages_come_first() -> None:
    scene = Scene(None, 0)
    scene.go_on(1)
    scene.cursor.say(Info("for_you", "alone"))
    scene.read(1)
    assert scene.got[0]["code"] == "for_you"


def test_events_too_old_to_be_kept_are_counted_to_who_wants_them() -> None:
    scene = Scene(0, 0)
    for _ in range(EVENTS_KEPT + EVENTS_FORGOTTEN):
        scene.track.say(UsageUpdated(0))
    scene.read(1)
    assert scene.got[0]["code"] == "events_forgotten"
    assert scene.got[0]["message"].startswith("1000 events")
