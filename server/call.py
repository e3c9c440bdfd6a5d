"""A session together with the wire it is spoken over: messages in, deeds out, still pure.

`Call` is what a connection drives; `LiveCall` and `MoshiCall` say in their own words what the session
says in none. Refuses to know sockets and which thread calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from model.config import ModelInfo, Sampling
from model.engine import FrameResult
from server.actions import Deed, Finish, Join, Notice, Said, Send
from server.endings import DRAINED, NO_ROOM, Ending
from server.lifecycle import State
from server.limits import Limits
from server.session import Actions, Session, Tail

SEED_BITS = 53
"""Seeds that we draw survive a browser's numbers."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a call must know of the server.

    record: which sessions are recorded. unix_offset_s: Unix time minus the monotonic clock.
    draw_bits: so many random bits as a number.
    """

    session_id: str
    info: ModelInfo
    limits: Limits
    record: Literal["store", "all", "never"]
    unix_offset_s: float
    draw_bits: Callable[[int], int]

    def records(self, asked: bool) -> bool:
        return self.record == "all" or (asked and self.record == "store")


class Call(ABC):
    """One session on one wire. Every method returns deeds for the connection, in order."""

    wire: str
    """The wire's name in metadata."""

    def __init__(self, setup: Setup, limits: Limits, now: float) -> None:
        self._setup = setup
        self._session = Session(limits, self._flush, self._forget, now)
        self._pieces: deque[bytes] = deque()
        self._unsent = 0

    # -- what a wire adds -------------------------------------------------------------------------

    @abstractmethod
    def open(self, now: float) -> list[Deed]:
        """The connection stands."""

    @abstractmethod
    def receive(self, message: str | bytes, now: float) -> list[Deed]:
        """A text or a binary message came; nothing of the one before may be left (`has_more`)."""

    @abstractmethod
    def _greet(self) -> Iterable[Send]:
        """The session has started."""

    @abstractmethod
    def _say(self, said: Said) -> Iterable[Send]:
        """The wire's words for it, maybe none."""

    @abstractmethod
    def _hear(self, audio: bytes, now: float) -> list[Deed]:
        """Decodes a piece of audio, for the session."""

    @abstractmethod
    def _frames_in(self, size: int) -> int:
        """How many frames so many bytes of audio are that nobody will decode."""

    @abstractmethod
    def _flush(self) -> Tail:
        """What the input holds of an unfinished frame."""

    def _notes(self) -> dict[str, Any]:
        """What the wire counted, for the recording's metadata."""
        return {}

    # -- what a connection drives -----------------------------------------------------------------

    def joined(self, now: float) -> list[Deed]:
        """The model gave the place that `Join` asked for."""
        started = self._session.start(self._setup.info.lag_frames, self._setup.info.context_frames, now)
        return [*self._greet(), *self._render(started)]

    def no_room(self, now: float) -> list[Deed]:
        """It did not."""
        return self.end(NO_ROOM, now)

    @property
    def has_more(self) -> bool:
        """Whether audio of the last message waits for `go_on`."""
        return bool(self._pieces)

    def go_on(self, now: float) -> list[Deed]:
        """Its next piece: decoding a long message at once would hold everybody up."""
        return self._hear(self._pieces.popleft(), now) if self._pieces else []

    def answer(self, result: FrameResult, now: float) -> list[Deed]:
        return self._render(self._session.answer(result, now))

    def written(self, frames: int, now: float) -> list[Deed]:
        return self._render(self._session.written(frames, now))

    def tick(self, now: float) -> list[Deed]:
        return self._render(self._session.tick(now))

    def end(self, ending: Ending, now: float) -> list[Deed]:
        return self._render(self._session.end(ending, now))

    def stored(self, now: float) -> list[Deed]:
        return self._render(self._session.stored(now))

    def drain(self, now: float) -> list[Deed]:
        """The server was told to stop: who has not started yet never will; the others learn until when."""
        if self._session.state is State.OPENING:
            return self.end(DRAINED, now)
        until = self._unix(self._session.drain(now))
        words = datetime.fromtimestamp(until, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return list(
            self._say(Notice("draining", f"the server stops; this session ends at {words} at the latest"))
        )

    # -- for the wires ----------------------------------------------------------------------------

    def _take_audio(self, audio: bytes, piece_bytes: int) -> None:
        """To be heard with `go_on`, in pieces of this size; no audio is a piece too, and a sign of life."""
        self._pieces += [audio[at : at + piece_bytes] for at in range(0, max(1, len(audio)), piece_bytes)]

    def _forget(self) -> int:
        size = sum(map(len, self._pieces))
        self._pieces.clear()
        return self._frames_in(size)

    def _join(self, sampling: Sampling, audio: dict[str, Any], recorded: bool, now: float) -> Join:
        info = self._setup.info
        metadata = {
            "started_unix_s": round(self._unix(now), 3),
            "wire": self.wire,
            "audio_format": audio,
            "model": asdict(info) | {"sampling": asdict(sampling)},
        }
        return Join(sampling, metadata if recorded else None)

    def _render(self, actions: Actions) -> list[Deed]:
        deeds: list[Deed] = []
        for action in actions:
            if isinstance(action, Finish):
                deeds.append(Finish(action.ending, action.summary | self._notes()))
            elif isinstance(action, Deed):
                deeds.append(action)
            else:
                deeds += self._say(action)
        return deeds

    def _audio(self, data: str | bytes, arrived: float) -> list[Send]:
        """One answered frame as a message; an encoder that holds it back keeps it uncounted."""
        self._unsent += 1
        if not data:
            return []
        frames, self._unsent = self._unsent, 0
        return [Send(data, frames, arrived)]

    def _unix(self, now: float) -> float:
        return now + self._setup.unix_offset_s
