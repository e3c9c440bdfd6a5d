"""The Live wire's vocabulary, for clients and servers: text in, messages out, and back.

Standard library only and pure: no sockets, no clocks, no samples. Commands are what a client says,
events are what a server says; what begins with `duet.` is between a server and its observers. The tables
`COMMANDS` and `EVENTS` are the whole wire, each message's class and fields, and golden messages for other
languages stand in tests/client/vectors.

With `?audio=binary` audio travels as binary WebSocket messages in the session's format, both ways,
instead of `session.input_audio.append` and `session.output_audio.delta`; all else is the same.
"""

from __future__ import annotations

from enum import IntEnum

from duet_client.commands import (
    COMMANDS,
    DUET,
    Close,
    Command,
    DuetOptions,
    InputAudioAppend,
    InstructionsAppend,
    Mute,
    SessionStart,
    Unmute,
    UnsupportedCommand,
    dump_command,
    parse_command,
)
from duet_client.errors import WireError
from duet_client.events import (
    EVENTS,
    CloseReason,
    Error,
    Event,
    Info,
    InputTranscriptDelta,
    InstructionsAppended,
    Muted,
    OutputAudioDelta,
    OutputTranscriptDelta,
    SessionClosed,
    SessionStarted,
    UnknownEvent,
    Unmuted,
    UsageUpdated,
    dump_event,
    parse_event,
)
from duet_client.formats import FRAME_MS, AudioFormat
from duet_client.sideband_commands import (
    LagMode,
    SidebandCommand,
    TranscriptAppend,
    TranscriptFinal,
    TranscriptLag,
    TranscriptUtterance,
)
from duet_client.sideband_events import (
    Attached,
    CallClosed,
    CallStarted,
    Gap,
    Guardrail,
    SidebandEvent,
    WordsAppended,
)
from duet_client.words import Channel, Word, write_words


class CloseCode(IntEnum):
    """WebSocket close codes this wire uses (RFC 6455 section 7.4.1; 1013 from the IANA registry)."""

    NORMAL = 1000
    GOING_AWAY = 1001  # the server stops
    POLICY = 1008  # guardrail, rate, malformed session.start
    TOO_BIG = 1009
    INTERNAL = 1011
    TRY_AGAIN = 1013


__all__ = [
    "COMMANDS",
    "DUET",
    "EVENTS",
    "FRAME_MS",
    "Attached",
    "AudioFormat",
    "CallClosed",
    "CallStarted",
    "Channel",
    "Close",
    "CloseCode",
    "CloseReason",
    "Command",
    "DuetOptions",
    "Error",
    "Event",
    "Gap",
    "Guardrail",
    "Info",
    "InputAudioAppend",
    "InputTranscriptDelta",
    "InstructionsAppend",
    "InstructionsAppended",
    "LagMode",
    "Mute",
    "Muted",
    "OutputAudioDelta",
    "OutputTranscriptDelta",
    "SessionClosed",
    "SessionStart",
    "SessionStarted",
    "SidebandCommand",
    "SidebandEvent",
    "TranscriptAppend",
    "TranscriptFinal",
    "TranscriptLag",
    "TranscriptUtterance",
    "UnknownEvent",
    "Unmute",
    "Unmuted",
    "UnsupportedCommand",
    "UsageUpdated",
    "WireError",
    "Word",
    "WordsAppended",
    "dump_command",
    "dump_event",
    "parse_command",
    "parse_event",
    "write_words",
]
