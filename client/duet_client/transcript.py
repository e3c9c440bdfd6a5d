"""What both sides said, in times of the session, as the JSON file beside a recording.

Pure: events in, plain data out.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from duet_client import wire


@dataclass(frozen=True, slots=True)
class Span:
    """Text and when it was said, in milliseconds of the session."""

    text: str
    start_ms: int
    end_ms: int


def words(deltas: list[Span]) -> list[Span]:
    """Fragments joined to words: a word begins where a fragment begins with a space or holds one."""
    found: list[Span] = []
    fresh = True
    for delta in deltas:
        pieces = re.split(r"\s", delta.text)
        for n, piece in enumerate(pieces):
            fresh = fresh or n > 0
            if not piece:
                continue
            if fresh or not found:
                found.append(Span(piece, delta.start_ms, delta.end_ms))
            else:
                last = found[-1]
                found[-1] = Span(last.text + piece, last.start_ms, delta.end_ms)
            fresh = False
    return found


@dataclass(slots=True)
class Transcript:
    """Collects a session's events but its audio; channel 0 is the user, channel 1 the agent."""

    session: dict[str, Any] = field(default_factory=dict)
    deltas: tuple[list[Span], list[Span]] = field(default_factory=lambda: ([], []))
    notices: list[dict[str, Any]] = field(default_factory=list)
    seconds: float | None = None
    usage_ratio: float | None = None
    reason: str | None = None

    def add(self, event: wire.Event) -> None:
        match event:
            case wire.SessionStarted(session=session):
                self.session = session
            case wire.InputTranscriptDelta(delta=text, start_ms=start, end_ms=end):
                self.deltas[0].append(Span(text, start, end))
            case wire.OutputTranscriptDelta(delta=text, start_ms=start, end_ms=end):
                self.deltas[1].append(Span(text, start, end))
            case wire.UsageUpdated():
                self.seconds, self.usage_ratio = event.seconds, event.usage_ratio
            case wire.SessionClosed():
                self.session, self.seconds, self.reason = event.session, event.seconds, event.reason
            case wire.Info() | wire.Error():
                self.notices.append({"kind": type(event).__name__.lower(), **asdict(event)})
            case _:
                pass

    def to_json(self, **more: Any) -> dict[str, Any]:
        """`more` goes in between, such as what the recording knows of itself."""
        return {
            "session": self.session,
            "reason": self.reason,
            "usage": {"seconds": self.seconds, "usage_ratio": self.usage_ratio},
            **more,
            "channels": [_channel(n, name, self.deltas[n]) for n, name in enumerate(("user", "agent"))],
            "notices": self.notices,
        }


def _channel(number: int, speaker: str, deltas: list[Span]) -> dict[str, Any]:
    return {
        "channel": number,
        "speaker": speaker,
        "text": "".join(delta.text for delta in deltas).strip(),
        "words": [asdict(word) for word in words(deltas)],
        "deltas": [asdict(delta) for delta in deltas],
    }
