"""Where one observer is in a call, and what it gets next: a message, or frames that must be read from disk.

An observer that begins in the past reads from disk until it has caught up with the track's last frames.
From then on it is live: should it fall further behind than those reach, it skips to them and is told of
the gap. Events come in the order in which they were told, between the frames where they were.
Pure. Refuses to know sockets, disks and what an observer may say.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from audio.frames import FRAME_MS
from duet_client.wire import Event, Gap, Info, dump_event
from server.sideband.track import Pair, Track

READ_FRAMES = 125
"""Most frames of one read."""


Audio = Literal["binary", "events", "none"]
"""How an observer gets audio: a binary message for each frame, two events, or not at all."""


@dataclass(frozen=True, slots=True)
class Read:
    """So many frames from `first` on are wanted from disk."""

    first: int
    frames: int


class Cursor:
    """See the module.

    reader: who reads, as `Told.asker` knows it. from_frame: None for what is told from now on.
    missed: told of every gap, in frames.
    """

    def __init__(
        self,
        track: Track,
        reader: object,
        audio: Audio,
        from_frame: int | None,
        missed: Callable[[int], None],
    ) -> None:
        self.frame = track.frames if from_frame is None else min(from_frame, track.frames)
        """The next one."""
        self._track = track
        self._reader = reader
        self.audio = audio
        self._missed = missed
        self._live = self.frame >= track.first
        replays = self.frame < track.frames
        self._event = track.event_after(self.frame) if replays else track.events
        self._own: deque[str] = deque()
        self._own_count = 0
        self._read: deque[Pair] = deque()

    def say(self, event: Event) -> None:
        """To this observer alone, as soon as possible."""
        self._own_count += 1
        self._own.append(dump_event(event, f"own_{self._own_count}"))

    @property
    def unsaid(self) -> int:
        """How many messages of its own wait."""
        return len(self._own)

    def next(self) -> str | bytes | Read | None:
        """None: there is nothing now, and at a closed track nothing any more."""
        if self._own:
            return self._own.popleft()
        if self._event < self._track.first_event:
            return self._skip_events()
        told = self._track.event(self._event)
        if told is not None and told.at <= self.frame:
            self._event += 1
            return told.text(self._reader)
        if self.audio == "none" and told is not None:
            self.frame = told.at
            return self.next()
        if self.audio == "none" or self.frame >= self._track.frames:
            return None
        return self._next_frame()

    def take(self, pairs: Iterable[Pair]) -> None:
        """The frames that a `Read` wanted, or the first of them; none where the disk does not have them."""
        self._read.extend(pairs)
        if not self._read:
            self._skip_to(self._track.first)

    def _next_frame(self) -> str | bytes | Read:
        if self._read:
            return self._show(self._read.popleft())
        pair = self._track.pair(self.frame)
        if pair is not None:
            self._live = True
            return self._show(pair)
        if self._live and self.frame < self._track.oldest_owed:
            self._skip_to(self._track.oldest_owed)
            return self._own.popleft()
        return Read(self.frame, min(READ_FRAMES, self._track.first - self.frame))

    def _show(self, pair: Pair) -> str | bytes:
        self.frame = pair.index + 1
        if self.audio == "binary":
            return pair.binary
        user, agent = pair.texts
        self._own.append(agent)
        return user

    def _skip_to(self, frame: int) -> None:
        self._missed(frame - self.frame)
        self.say(Gap(self.frame * FRAME_MS, frame * FRAME_MS))
        self.frame = frame

    def _skip_events(self) -> str:
        gone = self._track.first_event - self._event
        self._event = self._track.first_event
        self.say(Info("events_forgotten", f"{gone} events of this call are too old to be told again"))
        return self._own.popleft()
