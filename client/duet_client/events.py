"""What a server says: one frozen dataclass per event, and the table that reads and writes them.

Field names and meanings: the Live API's types (openai package, openai/types/live). Every event carries
an `event_id` but the audio ones, which carry none. Refuses to know when an event is due.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from duet_client.commands import COMMANDS, InputAudioAppend
from duet_client.errors import WireError
from duet_client.fields import (
    AUDIO,
    INTEGER,
    NAME,
    NUMBER,
    OBJECT,
    TEXT,
    Field,
    Fields,
    choice,
    dump_object,
    load_object,
    read_fields,
    write_fields,
)
from duet_client.sideband_events import SIDEBAND_EVENTS, SidebandEvent

CloseReason = Literal["close_requested", "expired", "content", "remote_hangup", "connection_lost"]


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """The session runs. session: its resolved configuration (id, model, audio, duet, ...)."""

    session: dict[str, Any]
    client_event_id: str | None = None


@dataclass(frozen=True, slots=True)
class OutputAudioDelta:
    """The agent's audio in the session's format; times only on a sideband, whose audio is s16le 24 kHz."""

    audio: bytes
    start_ms: int | None = None
    end_ms: int | None = None


@dataclass(frozen=True, slots=True)
class OutputTranscriptDelta:
    """A piece of the agent's words, and when it says them; never changed later."""

    delta: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class InputTranscriptDelta:
    """A piece of the user's words, and when they were said; never changed later."""

    delta: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class InstructionsAppended:
    start_ms: int
    end_ms: int
    client_event_id: str | None = None


@dataclass(frozen=True, slots=True)
class UsageUpdated:
    """seconds: audio so far, cumulative. usage_ratio: how full the model's context is, 0 to 1."""

    seconds: float
    usage_ratio: float | None = None


@dataclass(frozen=True, slots=True)
class Info:
    """Something the client should know and need not act on; times where it belongs to a span of the call."""

    code: str
    message: str
    client_event_id: str | None = None
    start_ms: int | None = None
    end_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Error:
    """A command was refused, or the session cannot go on.

    param: dotted path of the offending field. client_event_id: the refused command's `event_id`.
    """

    code: str
    message: str
    param: str | None = None
    client_event_id: str | None = None
    type: str = "invalid_request_error"

    @classmethod
    def of(cls, error: WireError) -> Error:
        """The event that answers a command which `parse_command` refused."""
        return cls(error.code, error.message, error.param, error.client_event_id)


@dataclass(frozen=True, slots=True)
class Muted:
    client_event_id: str | None = None


@dataclass(frozen=True, slots=True)
class Unmuted:
    client_event_id: str | None = None


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """The last event: all was answered. seconds: the session's audio in total."""

    reason: CloseReason
    session: dict[str, Any]
    seconds: float
    client_event_id: str | None = None


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event this library does not know, as it came."""

    type: str
    payload: dict[str, Any]


Event = (
    SessionStarted
    | InputAudioAppend
    | OutputAudioDelta
    | OutputTranscriptDelta
    | InputTranscriptDelta
    | InstructionsAppended
    | UsageUpdated
    | Info
    | Error
    | Muted
    | Unmuted
    | SessionClosed
    | UnknownEvent
    | SidebandEvent
)

_ANSWERS = Field("client_event_id", "client_event_id", TEXT)
_SPAN: Fields = (
    Field("start_ms", "start_ms", INTEGER, required=True),
    Field("end_ms", "end_ms", INTEGER, required=True),
)
_WORDS: Fields = (Field("delta", "delta", TEXT, required=True), *_SPAN)
_SESSION = Field("session", "session", OBJECT, required=True)
_SECONDS = Field("seconds", "usage.seconds", NUMBER, required=True)

EVENTS: dict[str, tuple[type[Any], Fields]] = {
    "session.started": (SessionStarted, (_SESSION, _ANSWERS)),
    "session.input_audio.append": COMMANDS["session.input_audio.append"],
    "session.output_audio.delta": (
        OutputAudioDelta,
        (
            Field("audio", "delta", AUDIO, required=True),
            Field("start_ms", "start_ms", INTEGER),
            Field("end_ms", "end_ms", INTEGER),
        ),
    ),
    "session.output_transcript.delta": (OutputTranscriptDelta, _WORDS),
    "session.input_transcript.delta": (InputTranscriptDelta, _WORDS),
    "session.instructions.appended": (InstructionsAppended, (*_SPAN, _ANSWERS)),
    "session.usage.updated": (
        UsageUpdated,
        (_SECONDS, Field("usage_ratio", "context_window.usage_ratio", NUMBER)),
    ),
    "info": (
        Info,
        (
            Field("code", "code", NAME, required=True),
            Field("message", "message", TEXT, required=True),
            _ANSWERS,
            Field("start_ms", "start_ms", INTEGER),
            Field("end_ms", "end_ms", INTEGER),
        ),
    ),
    "error": (
        Error,
        (
            Field("type", "error.type", NAME, required=True),
            Field("code", "error.code", NAME, required=True),
            Field("message", "error.message", TEXT, required=True),
            Field("param", "error.param", TEXT),
            Field("client_event_id", "error.client_event_id", TEXT),
        ),
    ),
    "session.input_audio.muted": (Muted, (_ANSWERS,)),
    "session.input_audio.unmuted": (Unmuted, (_ANSWERS,)),
    "session.closed": (
        SessionClosed,
        (
            Field(
                "reason",
                "reason",
                choice("close_requested", "expired", "content", "remote_hangup", "connection_lost"),
                required=True,
            ),
            _SESSION,
            _SECONDS,
            _ANSWERS,
        ),
    ),
    **SIDEBAND_EVENTS,
}
_TYPE_OF = {cls: name for name, (cls, _) in EVENTS.items()}
_TYPE = Field("type", "type", NAME, required=True)


def dump_event(event: Event, event_id: str) -> str:
    """Write one event. `event_id` is left out of audio events, which have none on this wire."""
    if isinstance(event, UnknownEvent):
        return dump_object(event.payload | {"type": event.type, "event_id": event_id})
    name = _TYPE_OF[type(event)]
    if isinstance(event, InputAudioAppend):
        event = replace(event, event_id=None)
    obj = {"type": name} | write_fields(EVENTS[name][1], event)
    if not isinstance(event, InputAudioAppend | OutputAudioDelta):
        obj["event_id"] = event_id
    if isinstance(event, Error) and event.client_event_id is not None:
        obj["client_event_id"] = event.client_event_id  # the Live wire says it in both places
    return dump_object(obj)


def parse_event(text: str) -> Event:
    """Read one event; a type this library does not know becomes an `UnknownEvent`.

    Raises:
        WireError: invalid_json, missing_field, invalid_value or invalid_audio.
    """
    obj = load_object(text)
    name = read_fields((_TYPE,), obj)["type"]
    if name not in EVENTS:
        return UnknownEvent(name, obj)
    cls, fields = EVENTS[name]
    return cast(Event, cls(**read_fields(fields, obj)))
