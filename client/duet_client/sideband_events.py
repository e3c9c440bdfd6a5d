"""What only observers are told, beside every event of the call: one dataclass per event, and their table.

Refuses to know when an event is due.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duet_client.fields import FLAG, INTEGER, NAME, OBJECT, TEXT, Field, Fields
from duet_client.words import CHANNEL, WORDS, Channel, Word


@dataclass(frozen=True, slots=True)
class Attached:
    """The first message to an observer.

    session: as in session.started. frame: the index of the first frame that follows.
    transcript: by channel, `through_ms` and the `last` words that were told. ended: the call is over;
    what it holds follows all the same.
    """

    session: dict[str, Any]
    frame: int
    transcript: dict[str, Any]
    ended: bool


@dataclass(frozen=True, slots=True)
class WordsAppended:
    """Words of one channel that are certain, and until when that channel has been heard."""

    channel: Channel
    words: tuple[Word, ...]
    through_ms: int


@dataclass(frozen=True, slots=True)
class Gap:
    """This observer read too slowly and missed the audio of that span; it can attach again with from_ms."""

    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class Guardrail:
    """A rule of the server's found what it looks for. listen: where. action: what was done.

    text: what matched, where the server tells it.
    """

    rule: str
    listen: str
    action: str
    at_ms: int
    text: str | None = None


@dataclass(frozen=True, slots=True)
class CallStarted:
    """On /v1/live/observe: a call runs. session: as in session.started."""

    session: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CallClosed:
    """On /v1/live/observe: a call is over. reason: the server's own word.

    final_wanted: its final transcript is waited for, and it can still be attached to.
    """

    session_id: str
    reason: str
    frames: int
    final_wanted: bool


SidebandEvent = Attached | WordsAppended | Gap | Guardrail | CallStarted | CallClosed


def _must(name: str, kind: Any) -> Field:
    return Field(name, name, kind, required=True)


SIDEBAND_EVENTS: dict[str, tuple[type[Any], Fields]] = {
    "duet.attached": (
        Attached,
        (
            _must("session", OBJECT),
            _must("frame", INTEGER),
            _must("transcript", OBJECT),
            _must("ended", FLAG),
        ),
    ),
    "duet.words": (
        WordsAppended,
        (_must("channel", CHANNEL), _must("words", WORDS), _must("through_ms", INTEGER)),
    ),
    "duet.gap": (Gap, (_must("from_ms", INTEGER), _must("to_ms", INTEGER))),
    "duet.guardrail": (
        Guardrail,
        (
            _must("rule", NAME),
            _must("listen", NAME),
            _must("action", NAME),
            _must("at_ms", INTEGER),
            Field("text", "text", TEXT),
        ),
    ),
    "duet.session.started": (CallStarted, (_must("session", OBJECT),)),
    "duet.session.closed": (
        CallClosed,
        (
            _must("session_id", NAME),
            _must("reason", NAME),
            _must("frames", INTEGER),
            _must("final_wanted", FLAG),
        ),
    ),
}
