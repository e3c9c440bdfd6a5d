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

from duet_client.wire import Channel, Close, InstructionsAppend, Mute, Unmute, WireError, Word
from model.config import ModelInfo, Sampling
from model.engine import FrameResult
from server.actions import (
    AgentDone,
    AgentFrame,
    Deed,
    Finish,
    Join,
    MuteSet,
    Notice,
    Publish,
    Said,
    Send,
)
from server.endings import CLOSE_REQUESTED, DRAINED, NO_ROOM, Ending
from server.guardrails.delivery import UNGUARDED, Policy
from server.lifecycle import State
from server.limits import Limits
from server.session import Actions, Session, Tail

Control = Mute | Unmute | InstructionsAppend | Close
"""What an observer may have done to a call."""

SEED_BITS = 53
"""Seeds that we draw survive a browser's numbers."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a call must know of the server.

    record: which sessions are recorded. unix_offset_s: Unix time minus the monotonic clock.
    draw_bits: so many random bits as a number. policy: what the agent's speech is held to.
    """

    session_id: str
    info: ModelInfo
    limits: Limits
    record: Literal["store", "all", "never"]
    unix_offset_s: float
    draw_bits: Callable[[int], int]
    policy: Policy = UNGUARDED

    def records(self, asked: bool) -> bool:
        return self.record == "all" or (asked and self.record == "store")


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a session is like once everything is settled. audio: its format, in the wire's words."""

    sampling: Sampling
    audio: dict[str, Any]
    recorded: bool

    def describe(self, setup: Setup, expires_at: int) -> dict[str, Any]:
        """The `session` of session.started and session.closed (openai/types/live/session_resource.py)."""
        info = setup.info
        facts = {
            "lag_frames": info.lag_frames,
            "context_frames": info.context_frames,
            "trained": info.trained,
        }
        return {
            "id": setup.session_id,
            "expires_at": expires_at,
            "model": info.name,
            "status": "active",
            "audio": {"format": self.audio, "output": {"voice": None}},
            "instructions": None,
            "store": self.recorded,
            "duet": asdict(self.sampling) | facts,
        }


class Call(ABC):
    """One session on one wire. Every method returns deeds for the connection, in order."""

    wire: str
    """The wire's name in metadata."""

    def __init__(self, setup: Setup, limits: Limits, now: float) -> None:
        self._setup = setup
        self._session = Session(limits, self._flush, self._forget, now, setup.policy)
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
        notice = Notice("draining", f"the server stops; this session ends at {words} at the latest")
        return self._render([notice])

    def words(self, channel: Channel, words: tuple[Word, ...], through_ms: int, now: float) -> list[Deed]:
        """A transcriber heard these; no more will come that start before `through_ms`."""
        return self._render(self._session.words(channel, words, through_ms, now))

    def control(self, command: Control, now: float) -> list[Deed]:
        """An observer's command. Raises WireError for what cannot be done."""
        match command:
            case Mute() | Unmute():
                on = isinstance(command, Mute)
                return self._render([*self._session.mute(on, now), MuteSet(on)])
            case InstructionsAppend():
                raise WireError("unsupported", "this model takes no instructions", "type", command.event_id)
            case Close():
                return self.end(CLOSE_REQUESTED, now)

    # -- for the wires ----------------------------------------------------------------------------

    def _take_audio(self, audio: bytes, piece_bytes: int) -> None:
        """To be heard with `go_on`, in pieces of this size; no audio is a piece too, and a sign of life."""
        self._pieces += [audio[at : at + piece_bytes] for at in range(0, max(1, len(audio)), piece_bytes)]

    def _forget(self) -> int:
        size = sum(map(len, self._pieces))
        self._pieces.clear()
        return self._frames_in(size)

    def _join(self, session: Resolved, now: float) -> Join:
        metadata = {
            "started_unix_s": round(self._unix(now), 3),
            "wire": self.wire,
            "audio_format": session.audio,
            "model": asdict(self._setup.info) | {"sampling": asdict(session.sampling)},
        }
        expires_at = int(self._unix(now) + self._setup.limits.max_session_s)
        return Join(session.sampling, session.describe(self._setup, expires_at), metadata, session.recorded)

    def _render(self, actions: Actions) -> list[Deed]:
        deeds: list[Deed] = []
        for action in actions:
            if isinstance(action, Finish):
                deeds.append(Finish(action.ending, action.summary | self._notes()))
            elif isinstance(action, Deed):
                deeds.append(action)
            else:
                if not isinstance(action, AgentFrame | AgentDone):  # observers get audio from `Record`
                    deeds.append(Publish(action))
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
