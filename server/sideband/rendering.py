"""What a session says in no wire's words, in those of observers. Pure; refuses to know who observes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audio.frames import FRAME_MS
from duet_client.wire import (
    Error,
    Event,
    Guardrail,
    Muted,
    OutputTranscriptDelta,
    SessionClosed,
    Unmuted,
    UsageUpdated,
    WordsAppended,
)
from server.actions import (
    AgentText,
    Ahead,
    Closed,
    Guarded,
    Missed,
    MuteSet,
    Notice,
    Problem,
    Said,
    Usage,
    Words,
)
from server.live import heard, noted


def events(said: Said, session: dict[str, Any]) -> Iterator[Event]:
    """session: the resolved one, which session.closed repeats. Audio is no event here: none for it."""
    match said:
        case Words(channel, words, through_ms):
            if channel == "user":
                yield from heard(words)
            yield WordsAppended(channel, words, through_ms)
        case Guarded(rule, listen, action, frame, text):
            yield Guardrail(rule, listen, action, frame * FRAME_MS, text or None)
        case Closed(ending, seconds):
            yield SessionClosed(ending.wire_reason, session, seconds)
        case AgentText(frame, text):
            yield OutputTranscriptDelta(text, frame * FRAME_MS, (frame + 1) * FRAME_MS)
        case _:
            yield from _remarks(said)


def _remarks(said: Said) -> Iterator[Event]:
    match said:
        case Usage(seconds, ratio):
            yield UsageUpdated(seconds, ratio)
        case Notice() | Ahead() | Missed():
            yield noted(said)
        case MuteSet(on):
            yield Muted() if on else Unmuted()
        case Problem(kind, code, message):
            yield Error(code, message, type=kind)
