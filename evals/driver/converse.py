"""One conversation over an open session: moves audio between the wire, the ear and the cue engine.

Everything is placed on the sender's clock: 0 is when the user's first sample is spoken, and a frame
leaves when its last sample is, as from a microphone. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from audio.formats import from_pcm16
from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, Samples
from duet_client import wire
from duet_client.duplex import duplex, not_stalled
from duet_client.errors import DuetError
from duet_client.session import Session
from duet_client.transcript import Span
from evals.driver.cues import CueEngine
from evals.driver.playout import Playout

AHEAD_MAX_S = 600.0
"""More audio than this waiting to be heard is a server out of its mind, and not kept."""


class Clock(Protocol):
    """The sender's clock, in seconds from the user's first sample."""

    def now(self) -> float: ...

    def arrived(self, samples: int) -> float:
        """So many samples of the agent's stream are here now; when that is."""

    async def frame_over(self, frame: int) -> None:
        """Returns when the 80 ms of frame `frame` are over."""


@dataclass(slots=True)
class Record:
    """What a conversation leaves in memory. arrivals: one JSON object for every event, in order.

    on_frame: told the seconds that are over.
    user, agent: frames at the ear, float32 [1920] each, equally many.
    text: the agent's own words, in milliseconds of its stream.
    """

    engine: CueEngine
    playout: Playout
    user: list[Samples] = field(default_factory=list)
    agent: list[Samples] = field(default_factory=list)
    arrivals: list[dict[str, Any]] = field(default_factory=list)
    text: list[Span] = field(default_factory=list)
    notices: list[dict[str, str]] = field(default_factory=list)
    session: dict[str, Any] = field(default_factory=dict)
    closed: str | None = None
    on_frame: Callable[[float], None] = lambda _: None

    def arrived(self, now: float, kind: str, **facts: Any) -> None:
        self.arrivals.append({"arrival_s": round(now, 6), "kind": kind} | facts)


async def converse(session: Session, record: Record, clock: Clock, stall_s: float) -> None:
    """Plays the scenario to its end; `record` holds what there is, also on an error.

    stall_s: a server that says nothing for so long is given up.

    Raises:
        DuetError: the session was lost, refused something, stalled or closed before the end.
    """
    record.session = session.started.session
    said_all = await duplex(_speak(session, record, clock), _listen(session, record, clock, stall_s))
    if not said_all or not record.engine.done:
        raise DuetError(f"the server closed the session early ({record.closed})")


async def _speak(session: Session, record: Record, clock: Clock) -> None:
    frame = 0
    while not record.engine.done:
        await clock.frame_over(frame)
        frame += 1
        heard = record.playout.pull(frame * FRAME_SAMPLES)
        said = record.engine.step(heard)
        record.user.append(said)
        record.agent.append(heard)
        await session.send_audio(said)
        record.on_frame(frame * FRAME_SAMPLES / SAMPLE_RATE)
    await session.close()


async def _listen(session: Session, record: Record, clock: Clock, stall_s: float) -> None:
    async for event in not_stalled(session, stall_s):
        _take(event, record, clock)


def _take(event: wire.Event, record: Record, clock: Clock) -> None:
    match event:
        case wire.OutputAudioDelta(audio=audio):
            _hear(audio, record, clock)
        case wire.OutputTranscriptDelta(delta=text, start_ms=start, end_ms=end):
            record.text.append(Span(text, start, end))
            record.arrived(clock.now(), "text", delta=text, start_ms=start, end_ms=end)
        case wire.Info() | wire.Error():
            record.notices.append({"code": event.code, "message": event.message})
            record.arrived(clock.now(), "notice", code=event.code, message=event.message)
        case wire.SessionClosed(reason=reason):
            record.closed = reason
            record.arrived(clock.now(), "closed", reason=reason)
        case _:
            pass


def _hear(audio: bytes, record: Record, clock: Clock) -> None:
    samples = from_pcm16(np.frombuffer(audio, "<i2").astype(np.int16))
    now = clock.arrived(record.playout.received + len(samples))
    piece = record.playout.push(now, samples)
    record.arrived(now, "audio", stream=piece.stream, samples=piece.samples, ear=piece.ear)
    if record.playout.waiting_s > AHEAD_MAX_S:
        raise DuetError(f"the server is more than {AHEAD_MAX_S:g} s ahead of what can be heard")
