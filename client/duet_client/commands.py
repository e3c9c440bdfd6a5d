"""What a client may say: one frozen dataclass per command, and the table that reads and writes them.

Field names and meanings: the Live API's types (openai package, openai/types/live). Refuses to know
what a server does with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from duet_client.errors import WireError
from duet_client.fields import (
    AUDIO,
    FLAG,
    FORMAT,
    NAME,
    TEXT,
    Field,
    Fields,
    Kind,
    dump_object,
    integer,
    load_object,
    number,
    read_fields,
    refuse,
    strangers,
    write_fields,
)
from duet_client.formats import AudioFormat
from duet_client.sideband_commands import SIDEBAND_COMMANDS, SidebandCommand

TEMPERATURE_MAX = 10.0
TOP_K_MAX = 2**31 - 1
SEED_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class DuetOptions:
    """Sampling of one session, our one extension of the wire; None leaves it to the server."""

    text_temperature: float | None = None
    text_top_k: int | None = None
    audio_temperature: float | None = None
    audio_top_k: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class SessionStart:
    """The first command: opens the session.

    model: the loaded model's name, or `default`. voice: a name or a custom voice's id.
    unsupported: dotted names of whatever else the client asked for; read only, never written.
    """

    model: str
    audio_format: AudioFormat = AudioFormat.DEFAULT
    instructions: str | None = None
    voice: str | None = None
    store: bool = False
    duet: DuetOptions = DuetOptions()
    event_id: str | None = None
    unsupported: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InputAudioAppend:
    """The user's audio, raw bytes in the session's format, cut anywhere; never acknowledged.

    A server repeats it to observers, then always s16le at 24 kHz.
    """

    audio: bytes
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class Mute:
    """From now on the model hears silence; the clock goes on."""

    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class Unmute:
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class InstructionsAppend:
    """Text for the model while the call runs."""

    content: str
    delegation_id: str | None = None
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """Ends the session once everything that was sent has been answered."""

    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class UnsupportedCommand:
    """A command of the Live vocabulary that a speech-to-speech model cannot carry out."""

    type: str
    event_id: str | None = None


Command = (
    SessionStart
    | InputAudioAppend
    | Mute
    | Unmute
    | InstructionsAppend
    | Close
    | UnsupportedCommand
    | SidebandCommand
)


def _read_voice(value: Any, where: str) -> str:
    if isinstance(value, dict):  # a custom voice: {"id": ...}
        return cast(str, NAME.read(value.get("id"), f"{where}.id"))
    if not isinstance(value, str):
        refuse(where, "a string or an object with an id", value)
    return cast(str, NAME.read(value, where))


def _read_duet(value: Any, where: str) -> DuetOptions:
    if not isinstance(value, dict):
        refuse(where, "an object", value)
    for name in strangers(DUET, value):  # a misspelt option would change a result in silence
        allowed, stranger = ", ".join(field.path for field in DUET), f"{where}.{name[:80]}"
        raise WireError("invalid_value", f"{stranger} is unknown; allowed are {allowed}", stranger)
    return DuetOptions(**read_fields(DUET, value, f"{where}."))


def _write_duet(options: DuetOptions) -> dict[str, Any] | None:
    return write_fields(DUET, options) or None  # stock servers need not see the object at all


DUET: Fields = (
    Field("text_temperature", "text_temperature", number(TEMPERATURE_MAX)),
    Field("text_top_k", "text_top_k", integer(TOP_K_MAX)),
    Field("audio_temperature", "audio_temperature", number(TEMPERATURE_MAX)),
    Field("audio_top_k", "audio_top_k", integer(TOP_K_MAX)),
    Field("seed", "seed", integer(SEED_MAX)),
)
_EVENT_ID = Field("event_id", "event_id", TEXT)

COMMANDS: dict[str, tuple[type[Any], Fields]] = {
    "session.start": (
        SessionStart,
        (
            _EVENT_ID,
            Field("model", "session.model", NAME, required=True),
            Field("audio_format", "session.audio.format", FORMAT),
            Field("instructions", "session.instructions", TEXT),
            Field("voice", "session.audio.output.voice", Kind(_read_voice)),
            Field("store", "session.store", FLAG),
            Field("duet", "session.duet", Kind(_read_duet, _write_duet)),
        ),
    ),
    "session.input_audio.append": (
        InputAudioAppend,
        (_EVENT_ID, Field("audio", "audio", AUDIO, required=True)),
    ),
    "session.input_audio.mute": (Mute, (_EVENT_ID,)),
    "session.input_audio.unmute": (Unmute, (_EVENT_ID,)),
    "session.instructions.append": (
        InstructionsAppend,
        (
            _EVENT_ID,
            Field("content", "content", TEXT, required=True),
            Field("delegation_id", "delegation_id", TEXT, nullable=True),
        ),
    ),
    "session.close": (Close, (_EVENT_ID,)),
    **SIDEBAND_COMMANDS,
}
_TYPE_OF = {cls: name for name, (cls, _) in COMMANDS.items()}
_START = COMMANDS["session.start"][1]
_TYPE = Field("type", "type", NAME, required=True)

# The rest of the Live vocabulary: known, but not for this kind of model.
_UNSUPPORTED = (
    "session.update",
    "session.commentary.append",
    "session.thinking.append",
    "session.output_audio.fixture.play",
    "transport.dtmf.send",
)
_UNSUPPORTED_FAMILIES = ("response.", "decision.")


def parse_command(text: str) -> Command:
    """Read one command.

    Raises:
        WireError: invalid_json, unknown_type, missing_field, invalid_value or invalid_audio.
    """
    obj = load_object(text)
    try:
        return _read_command(obj)
    except WireError as error:
        event_id = obj.get("event_id")
        error.client_event_id = event_id if isinstance(event_id, str) else None
        raise


def dump_command(command: Command) -> str:
    """Write one command; the inverse of `parse_command`."""
    if isinstance(command, UnsupportedCommand):
        return dump_object({"type": command.type} | write_fields((_EVENT_ID,), command))
    name = _TYPE_OF[type(command)]
    return dump_object({"type": name} | write_fields(COMMANDS[name][1], command))


def _read_command(obj: dict[str, Any]) -> Command:
    name = read_fields((_TYPE,), obj)["type"]
    if name in COMMANDS:
        cls, fields = COMMANDS[name]
        found = read_fields(fields, obj)
        if cls is SessionStart:
            found["unsupported"] = tuple(strangers((_TYPE, *_START), obj))
        return cast(Command, cls(**found))
    if name in _UNSUPPORTED or name.startswith(_UNSUPPORTED_FAMILIES):
        return UnsupportedCommand(name, **read_fields((_EVENT_ID,), obj))
    allowed = ", ".join(COMMANDS)
    raise WireError("unknown_type", f"type {name[:80]!r} is unknown; allowed are {allowed}", "type")
