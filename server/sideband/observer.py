"""One observer of a call: where it is in the call, what it may do, and why it has to go.

Pure but for the events that tell whoever moves its messages. Refuses to know sockets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from duet_client.wire import CloseCode, Event
from server.sideband.cursor import Audio, Cursor, Read
from server.sideband.track import Track


@dataclass(frozen=True, slots=True)
class Wishes:
    """What an observer asked for. from_ms: None for what is said from now on."""

    audio: Audio = "events"
    from_ms: int | None = None
    transcribe: bool = False


@dataclass(frozen=True, slots=True)
class Farewell:
    """How a connection is closed."""

    code: CloseCode
    reason: str = ""


DONE = Farewell(CloseCode.NORMAL)
REPLACED = Farewell(CloseCode.POLICY, "replaced")
TOO_SLOW = Farewell(CloseCode.POLICY, "too_slow")
BROKEN = Farewell(CloseCode.INTERNAL)
TOO_BIG = Farewell(CloseCode.TOO_BIG)
STOPPED = Farewell(CloseCode.GOING_AWAY, "the server stops")


class Observer:
    """awake: there may be something for it. gone: it has to go at once, with `farewell`."""

    def __init__(
        self, track: Track, wishes: Wishes, from_frame: int | None, missed: Callable[[int], None]
    ) -> None:
        self.cursor = Cursor(track, self, wishes.audio, from_frame, missed)
        self.farewell = DONE
        self.awake = asyncio.Event()
        self.gone = asyncio.Event()
        self._stays = wishes.transcribe  # it hears on after the call has closed
        self._track = track

    def dismiss(self, farewell: Farewell) -> None:
        if not self.gone.is_set():
            self.farewell = farewell
            self.gone.set()

    def release(self) -> None:
        """Nothing is waited for any more: it may go once it was told everything."""
        self._stays = False
        self.awake.set()

    def say(self, event: Event) -> None:
        """To it alone."""
        self.cursor.say(event)
        self.awake.set()

    def next(self) -> str | bytes | Read | None:
        return self.cursor.next()

    @property
    def unsaid(self) -> int:
        return self.cursor.unsaid

    @property
    def is_done(self) -> bool:
        """Whether nothing follows, now that it was told everything so far."""
        return self._track.closed and not self._stays
