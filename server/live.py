"""The Live wire: its JSON commands and its audio in, its events out, around one session.

Pure; the vocabulary is `duet_client.wire`, samples are coded by `audio.streams`. Refuses to know
sockets and how a session runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from audio.streams import InputStream, OutputStream
from duet_client.wire import (
    FRAME_MS,
    AudioFormat,
    Close,
    Error,
    Event,
    Info,
    InputAudioAppend,
    InputTranscriptDelta,
    InstructionsAppend,
    Mute,
    Muted,
    OutputAudioDelta,
    OutputTranscriptDelta,
    SessionClosed,
    SessionStart,
    SessionStarted,
    SidebandCommand,
    TranscriptAppend,
    TranscriptFinal,
    TranscriptLag,
    TranscriptUtterance,
    Unmute,
    Unmuted,
    UnsupportedCommand,
    UsageUpdated,
    WireError,
    Word,
    dump_event,
    parse_command,
)
from server.actions import (
    AgentDone,
    AgentFrame,
    AgentText,
    Ahead,
    Closed,
    Deed,
    Guarded,
    Missed,
    MuteSet,
    Notice,
    Problem,
    Publish,
    Said,
    Send,
    Usage,
    Words,
)
from server.call import Call, Setup
from server.endings import BAD_START, CLOSE_REQUESTED
from server.lifecycle import State
from server.negotiation import negotiate
from server.session import Tail

Handle = Callable[[Any, Any, float], list[Deed]]

AHEAD = Info(
    "input_ahead",
    "audio comes faster than real time; it is read at real-time pace: send at speech pace or run the"
    " server with --pace free; a client's keepalive pings wait behind its audio",
)
STRAY_TOLD_EVERY = 100
"""A client that sends binary audio unasked sends a lot of it: an answer to each would be a flood."""


def heard(words: Iterable[Word]) -> Iterator[InputTranscriptDelta]:
    """The user's words as a client reads them."""
    return (InputTranscriptDelta(f" {word.word}", word.start_ms, word.end_ms) for word in words)


def shortfall(missed: Missed) -> Info:
    """Where the user's audio was filled up or dropped, as a client reads it."""
    start_ms, length_ms = missed.first * FRAME_MS, missed.frames * FRAME_MS
    if missed.kind == "filled":
        words = f"no audio came: {length_ms} ms of silence stand in for it"
        return Info("input_filled", words, start_ms=start_ms, end_ms=start_ms + length_ms)
    words = f"{length_ms} ms of audio came and were not heard"
    return Info("input_dropped", words, start_ms=start_ms, end_ms=start_ms)


def noted(said: Notice | Ahead | Missed) -> Info:
    match said:
        case Notice(code, message):
            return Info(code, message)
        case Ahead():
            return AHEAD
        case Missed():
            return shortfall(said)


class LiveCall(Call):
    """binary: audio travels as binary messages, both ways, instead of base64 in events."""

    wire = "live"

    def __init__(self, setup: Setup, binary: bool, now: float) -> None:
        super().__init__(setup, setup.limits, now)
        self._binary = binary
        self._use(AudioFormat.DEFAULT)
        self._resource: dict[str, Any] = {}
        self._infos: tuple[Info, ...] = ()
        self._start_id: str | None = None
        self._close_id: str | None = None
        self._events = self._stray = 0

    def open(self, _now: float) -> list[Deed]:
        return []

    def receive(self, message: str | bytes, now: float) -> list[Deed]:
        try:
            if isinstance(message, bytes):
                return self._hear_binary(message, now)
            command = parse_command(message)
            if self._session.state is State.OPENING and not isinstance(command, SessionStart):
                raise WireError("session_not_started", "the first message must be session.start", "type")
            handle: Handle = self._HANDLERS[type(command)]
            return handle(self, command, now)
        except WireError as error:
            return self._refuse(error, now)

    # -- commands ---------------------------------------------------------------------------------

    def _start(self, command: SessionStart, now: float) -> list[Deed]:
        if self._session.state is not State.OPENING:
            raise WireError("already_started", "the session runs already", "type", command.event_id)
        agreement = negotiate(command, self._setup)
        self._use(command.audio_format)
        self._infos, self._start_id = agreement.infos, command.event_id
        join = self._join(agreement.session, now)
        self._resource = join.session
        return [join]

    def _append(self, command: InputAudioAppend, now: float) -> list[Deed]:
        return self._hear_whole(command.audio, now)

    def _mute(self, command: Mute, now: float) -> list[Deed]:
        return self._set_mute(True, Muted(command.event_id), now)

    def _unmute(self, command: Unmute, now: float) -> list[Deed]:
        return self._set_mute(False, Unmuted(command.event_id), now)

    def _set_mute(self, on: bool, answer: Muted | Unmuted, now: float) -> list[Deed]:
        return [
            *self._render(self._session.mute(on, now)),
            Publish(MuteSet(on)),
            self._event(answer),
        ]

    def _instruct(self, command: InstructionsAppend, _now: float) -> list[Deed]:
        raise WireError("unsupported", "this model takes no instructions", "type", command.event_id)

    def _unsupported(self, command: UnsupportedCommand, _now: float) -> list[Deed]:
        raise WireError(
            "unsupported", f"this server cannot carry out {command.type}", "type", command.event_id
        )

    def _not_for_callers(self, command: SidebandCommand, _now: float) -> list[Deed]:
        raise WireError("unsupported", "only an observer may send transcripts", "type", command.event_id)

    def _close(self, command: Close, now: float) -> list[Deed]:
        self._close_id = self._close_id or command.event_id  # a second one is answered with the first
        return self.end(CLOSE_REQUESTED, now)

    _HANDLERS: dict[type[Any], Handle] = {
        SessionStart: _start,
        InputAudioAppend: _append,
        Mute: _mute,
        Unmute: _unmute,
        InstructionsAppend: _instruct,
        UnsupportedCommand: _unsupported,
        Close: _close,
        TranscriptAppend: _not_for_callers,
        TranscriptUtterance: _not_for_callers,
        TranscriptFinal: _not_for_callers,
        TranscriptLag: _not_for_callers,
    }

    def _refuse(self, error: WireError, now: float) -> list[Deed]:
        """A bad command is answered and forgiven, but for a bad beginning."""
        self._session.command(now)
        refusal = self._event(Error.of(error))
        if self._session.state is State.OPENING:
            return [refusal, *self.end(BAD_START, now)]
        return [refusal, Publish(Problem("invalid_request_error", error.code, error.message))]

    # -- audio in ---------------------------------------------------------------------------------

    def _hear_binary(self, data: bytes, now: float) -> list[Deed]:
        if not self._binary:
            return self._stray_binary(now)
        if self._session.state is State.OPENING:
            raise WireError("session_not_started", "the first message must be session.start", "type")
        return self._hear_whole(data, now)

    def _stray_binary(self, now: float) -> list[Deed]:
        """Told of the first one, and of every hundredth with their number."""
        self._stray += 1
        self._session.command(now)
        if self._stray > 1 and self._stray % STRAY_TOLD_EVERY:
            return []
        count = f"; {self._stray} binary messages were ignored so far" if self._stray > 1 else ""
        raise WireError("unexpected_binary", f"binary audio must be asked for with ?audio=binary{count}")

    def _hear_whole(self, audio: bytes, now: float) -> list[Deed]:
        """Its first second; the rest follows, if it is not too much."""
        self._take_audio(audio, self._format.rate * self._format.bytes_per_sample)
        return [*self._render(self._session.came(self._frames_in(len(audio)), now)), *self.go_on(now)]

    def _hear(self, audio: bytes, now: float) -> list[Deed]:
        return self._render(self._session.hear(self._input.push(audio), now))

    def _frames_in(self, size: int) -> int:
        return size // self._format.frame_bytes

    def _flush(self) -> Tail:
        return self._input.flush()

    def _notes(self) -> dict[str, Any]:
        return {"discarded_messages": self._stray}

    def _use(self, audio: AudioFormat) -> None:
        self._format = audio
        self._input = InputStream(audio.type, audio.rate)
        self._output = OutputStream(audio.type, audio.rate)

    # -- events out -------------------------------------------------------------------------------

    def _greet(self) -> Iterable[Send]:
        yield self._event(SessionStarted(self._resource, self._start_id))
        yield from map(self._event, self._infos)

    def _say(self, said: Said) -> Iterable[Send]:
        match said:
            case AgentFrame(_, pcm, arrived):
                return self._audio(self._coded(self._output.push(pcm)), arrived)
            case AgentDone():
                tail = self._coded(self._output.flush())
                return [Send(tail)] if tail else []
            case Words(channel, words):
                return map(self._event, heard(words)) if channel == "user" else []
            case Guarded():
                return []
            case MuteSet(on):
                return [self._event(Muted() if on else Unmuted())]
        return [self._event(self._worded(said))]

    def _worded(self, said: AgentText | Usage | Notice | Ahead | Missed | Problem | Closed) -> Event:
        match said:
            case AgentText(frame, text):
                return OutputTranscriptDelta(text, frame * FRAME_MS, (frame + 1) * FRAME_MS)
            case Usage(seconds, ratio):
                return UsageUpdated(seconds, ratio)
            case Notice() | Ahead() | Missed():
                return noted(said)
            case Problem(kind, code, message):
                return Error(code, message, type=kind)
            case Closed(ending, seconds):
                return SessionClosed(ending.wire_reason, self._resource, seconds, self._close_id)

    def _coded(self, audio: bytes) -> str | bytes:
        if self._binary or not audio:
            return audio
        return dump_event(OutputAudioDelta(audio), "")

    def _event(self, event: Event) -> Send:
        self._events += 1
        return Send(dump_event(event, f"event_{self._events}"))
