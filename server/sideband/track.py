"""A call as its observers get it: the last frames of both channels, and everything that was said about it.

One track serves all observers of a call; each of them is a `server.sideband.cursor.Cursor` on it, so that
what is kept does not grow with their number. What an event or a frame looks like on the wire is made when
the first observer comes to it, and then once for all. Pure. Refuses to know sockets and disks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

from audio.formats import to_pcm16
from audio.frames import FRAME_MS, Samples
from duet_client.wire import Event, InputAudioAppend, OutputAudioDelta, dump_event

RING_FRAMES = 125
"""10 s: what an observer may owe reading, 1.9 MB of samples a call."""
EVENTS_KEPT = 20_000
"""Hours of speech, 10 MB at most; an observer who replays a longer call is told that the oldest are gone."""
EVENTS_FORGOTTEN = 1_000
"""At once, since forgetting one by one costs more."""


class Pair:
    """Both channels of frame `index`, float32 [1920] each."""

    __slots__ = ("_agent", "_binary", "_texts", "_user", "index")

    def __init__(self, index: int, user: Samples, agent: Samples) -> None:
        self.index = index
        self._user = user
        self._agent = agent
        self._binary: bytes | None = None
        self._texts: tuple[str, str] | None = None

    @property
    def binary(self) -> bytes:
        """One binary message: the index as u32 LE, then the user's 1,920 samples s16le, then the agent's."""
        if self._binary is None:
            index = (self.index & 0xFFFF_FFFF).to_bytes(4, "little")
            self._binary = index + _pcm(self._user) + _pcm(self._agent)
        return self._binary

    @property
    def texts(self) -> tuple[str, str]:
        """The same as two events."""
        if self._texts is None:
            start_ms = self.index * FRAME_MS
            user = InputAudioAppend(_pcm(self._user))
            agent = OutputAudioDelta(_pcm(self._agent), start_ms, start_ms + FRAME_MS)
            self._texts = dump_event(user, ""), dump_event(agent, "")
        return self._texts


@dataclass(slots=True)
class Told:
    """An event, told when the track had `at` frames. asker: whom it answers, by its `client_event_id`."""

    at: int
    event: Any
    event_id: str
    asker: object = None
    client_event_id: str | None = None
    _text: str = field(default="", init=False)

    def text(self, reader: object) -> str:
        """As this reader gets it."""
        if self.asker is reader is not None and self.client_event_id is not None:
            return dump_event(replace(self.event, client_event_id=self.client_event_id), self.event_id)
        self._text = self._text or dump_event(self.event, self.event_id)
        return self._text


class Track:
    """frames: how many there were so far. closed: nothing follows but what a transcriber still hears."""

    def __init__(self) -> None:
        self.frames = 0
        self.closed = False
        self._ring: deque[Pair] = deque(maxlen=RING_FRAMES)
        self._told: list[Told] = []
        self._forgotten = 0

    def add(self, user: Samples, agent: Samples) -> None:
        """The next frame of both channels."""
        self._ring.append(Pair(self.frames, user, agent))
        self.frames += 1

    def say(self, event: Event, asker: object = None, client_event_id: str | None = None) -> None:
        """Something happened, after the frames so far."""
        event_id = f"event_{self.events + 1}"
        self._told.append(Told(self.frames, event, event_id, asker, client_event_id))
        if len(self._told) >= EVENTS_KEPT + EVENTS_FORGOTTEN:
            del self._told[:EVENTS_FORGOTTEN]
            self._forgotten += EVENTS_FORGOTTEN

    def drop_frames(self) -> None:
        """All of them are on disk, and nobody is to come soon."""
        self._ring.clear()

    @property
    def first(self) -> int:
        """The oldest frame that is here."""
        return self._ring[0].index if self._ring else self.frames

    @property
    def oldest_owed(self) -> int:
        """The oldest frame that an observer may owe reading and not miss."""
        return max(0, self.frames - RING_FRAMES)

    @property
    def events(self) -> int:
        """How many events were told so far."""
        return self._forgotten + len(self._told)

    @property
    def first_event(self) -> int:
        """The oldest event that is here."""
        return self._forgotten

    def pair(self, index: int) -> Pair | None:
        return self._ring[index - self.first] if self.first <= index < self.frames else None

    def event(self, number: int) -> Told | None:
        return self._told[number - self._forgotten] if self._forgotten <= number < self.events else None

    def event_after(self, frame: int) -> int:
        """The first event that was told when frame `frame` was there."""
        return self._forgotten + bisect_right(self._told, frame, key=lambda told: told.at)


def _pcm(samples: Samples) -> bytes:
    return to_pcm16(samples).astype("<i2").tobytes()
