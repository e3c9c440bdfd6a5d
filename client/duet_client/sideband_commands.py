"""What an observer may say beside the control commands of a client: the transcriber's messages.

Refuses to know what a server does with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from duet_client.fields import NAME, TEXT, Field, Fields, choice
from duet_client.words import CHANNEL, MS, WORDS, Channel, Word

LagMode = Literal["streaming", "slower", "utterances"]


@dataclass(frozen=True, slots=True)
class TranscriptAppend:
    """Words that are certain; with them every word that starts before `through_ms` is told."""

    channel: Channel
    words: tuple[Word, ...]
    through_ms: int
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class TranscriptUtterance:
    """One utterance of the final transcript, which is sent after the call has closed."""

    channel: Channel
    start_ms: int
    end_ms: int
    words: tuple[Word, ...]
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class TranscriptFinal:
    """The final transcript is complete. model: who heard it. duration_ms: of the call."""

    model: str
    duration_ms: int
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class TranscriptLag:
    """How far the transcriber is behind what it was sent, channel by channel, and how it copes."""

    user_ms: int
    agent_ms: int
    mode: LagMode
    event_id: str | None = None


SidebandCommand = TranscriptAppend | TranscriptUtterance | TranscriptFinal | TranscriptLag

_EVENT_ID = Field("event_id", "event_id", TEXT)
_CHANNEL = Field("channel", "channel", CHANNEL, required=True)
_WORDS = Field("words", "words", WORDS, required=True)


def _ms(name: str) -> Field:
    return Field(name, name, MS, required=True)


SIDEBAND_COMMANDS: dict[str, tuple[type[Any], Fields]] = {
    "duet.transcript.append": (TranscriptAppend, (_EVENT_ID, _CHANNEL, _WORDS, _ms("through_ms"))),
    "duet.transcript.utterance": (
        TranscriptUtterance,
        (_EVENT_ID, _CHANNEL, _ms("start_ms"), _ms("end_ms"), _WORDS),
    ),
    "duet.transcript.final": (
        TranscriptFinal,
        (_EVENT_ID, Field("model", "model", NAME, required=True), _ms("duration_ms")),
    ),
    "duet.transcript.lag": (
        TranscriptLag,
        (
            _EVENT_ID,
            _ms("user_ms"),
            _ms("agent_ms"),
            Field("mode", "mode", choice("streaming", "slower", "utterances"), required=True),
        ),
    ),
}
