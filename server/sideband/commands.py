"""What an observer says, and what comes of it. Pure; refuses to know sockets."""

from __future__ import annotations

from typing import get_args

from duet_client.wire import (
    Command,
    Error,
    Info,
    TranscriptAppend,
    TranscriptFinal,
    TranscriptLag,
    TranscriptUtterance,
    WireError,
    parse_command,
)
from server.call import Control
from server.sideband.feed import Feed
from server.sideband.observer import Observer


def obey(feed: Feed, observer: Observer, message: str | bytes) -> None:
    """A bad command is answered and forgiven."""
    event_id: str | None = None
    try:
        if isinstance(message, bytes):
            raise WireError("unexpected_binary", "an observer sends no audio")
        command = parse_command(message)
        event_id = command.event_id
        _carry_out(feed, observer, command)
    except WireError as error:
        error.client_event_id = error.client_event_id or event_id
        observer.say(Error.of(error))


def _carry_out(feed: Feed, observer: Observer, command: Command) -> None:
    if isinstance(command, get_args(Control)):
        if feed.closed:
            raise WireError("session_closed", "the session is over", "type")
        feed.control(observer, command)
    elif isinstance(command, TranscriptAppend | TranscriptUtterance | TranscriptFinal | TranscriptLag):
        if feed.transcriber is not observer:
            raise WireError("not_transcriber", "attach with transcribe=true to send transcripts", "type")
        _transcribe(feed, observer, command)
    else:
        raise WireError("unsupported", "an observer cannot do that", "type")


def _transcribe(
    feed: Feed,
    observer: Observer,
    command: TranscriptAppend | TranscriptUtterance | TranscriptFinal | TranscriptLag,
) -> None:
    match command:
        case TranscriptAppend(channel, words, through_ms):
            repeated = feed.heard(channel, words, through_ms)
            if repeated:
                said = f"{repeated} words were told before and are ignored"
                observer.say(Info("words_repeated", said, command.event_id))
        case TranscriptLag(user_ms, agent_ms, mode):
            feed.transcript.lag(user_ms, agent_ms, mode)
        case TranscriptUtterance() | TranscriptFinal() if not feed.closed:
            raise WireError("session_open", "the final transcript comes after session.closed", "type")
        case TranscriptUtterance(channel, start_ms, end_ms, words):
            feed.transcript.utterance(channel, start_ms, end_ms, words)
        case TranscriptFinal(model, duration_ms):
            feed.finalise(model, duration_ms)
