"""What one call tells its observers, and what they do to it: the place where both meet.

It outlives its call as long as somebody still reads, or a final transcript is waited for. Nothing here
waits, and an observer costs the call no more than a flag that is set. Refuses to know sockets, routes
and the wire that the caller speaks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Protocol

from audio.frame_flags import FrameFlags
from audio.frames import FRAME_MS, Samples
from duet_client.wire import (
    Attached,
    Channel,
    Close,
    Event,
    Info,
    Mute,
    Muted,
    Unmute,
    Unmuted,
    WireError,
    Word,
)
from server.actions import AgentText, Closed, Guarded, Said
from server.call import Control
from server.endings import Ending
from server.logs import SessionLog
from server.observation_metrics import ObservationMetrics
from server.sideband.observer import REPLACED, Observer, Wishes
from server.sideband.rendering import events
from server.sideband.track import Track
from server.spool import Reel, SpoolEntry
from server.transcripts.desk import TranscriptEntry

OBSERVERS_MOST = 8
BEYOND_MS = 30_000
"""How far a transcriber may be ahead of its call, since it may hear windows of that length. One that errs by
hours would lose every word that is still to come."""

log = logging.getLogger("duet.sideband")


class Controls(Protocol):
    """A running call, as its observers may touch it."""

    def control(self, command: Control) -> None:
        """Raises WireError for what cannot be done."""

    def heard(self, channel: Channel, words: tuple[Word, ...], through_ms: int) -> None:
        """What was heard, of a call that is over too; it comes back with what follows, to be published."""


class Feed:
    """See the module.

    session: the resolved one. recorded: its recording's frames, None where it is not recorded.
    open_spool: keeps the call from a frame on, where that is allowed and can be done.
    on_change: called when it closed, and when it may have nobody left to wait for.
    """

    def __init__(
        self,
        session: dict[str, Any],
        controls: Controls,
        transcript: TranscriptEntry,
        *,
        recorded: Reel | None,
        open_spool: Callable[[int], SpoolEntry | None],
        metrics: ObservationMetrics,
        on_change: Callable[[Feed], None],
    ) -> None:
        self.session = session
        self.transcript = transcript
        self.track = Track()
        self.observers: list[Observer] = []
        self.transcriber: Observer | None = None
        self.reason = ""
        """Of the end, by our own word."""
        self.sealed = False
        """Whether its final transcript is complete, or given up."""
        self._controls = controls
        self._recorded = recorded
        self._open_spool = open_spool
        self._spool: SpoolEntry | None = None
        self._metrics = metrics
        self._on_change = on_change
        self._closing: tuple[Observer, str | None] | None = None
        self._asking: tuple[Observer | None, str | None] = (None, None)
        self._log = SessionLog(log, self.id)

    @property
    def id(self) -> str:
        return str(self.session["id"])

    @property
    def closed(self) -> bool:
        return self.track.closed

    @property
    def reel(self) -> Reel | None:
        """Where its frames lie on disk."""
        if self._spool is not None:
            return self._spool.reel
        return self._recorded

    # -- the call tells ---------------------------------------------------------------------------

    def record(self, user: Samples, agent: Samples, flags: FrameFlags) -> None:
        """The next frame of both channels."""
        self.track.add(user, agent)
        if self._spool is not None:
            self._spool.write(user, agent, flags)
        self._wake()

    async def caught_up(self) -> None:
        """Returns when what is kept for observers is nearly all on disk."""
        if self._spool is not None:
            await self._spool.caught_up()

    def publish(self, said: Said) -> None:
        match said:
            case AgentText(frame, text):
                self.transcript.agent_text(frame, text)
            case Guarded():
                self._note_hit(said)
            case Closed(ending, _):
                self.close(ending, said)
                return
        for event in events(said, self.session):
            self._say(event)

    def close(self, ending: Ending, said: Closed | None = None) -> None:
        """The call is over, once; no frame follows."""
        if self.track.closed:
            return
        seconds = self.track.frames * FRAME_MS / 1000
        asker, event_id = self._closing or (None, None)
        for event in events(said or Closed(ending, seconds), self.session):
            self.track.say(event, asker, event_id)
        self.track.closed = True
        self.reason = ending.reason
        self.transcript.close(ending.reason, self.track.frames)
        if self._spool is not None:
            self._spool.finish()
        self._wake()
        self._on_change(self)

    # -- observers come and go --------------------------------------------------------------------

    def keep(self) -> None:
        """From now on its frames can be heard again, if they could not before and it is allowed."""
        if self._recorded is None and self._spool is None and not self.closed:
            self._spool = self._open_spool(self.track.frames)

    def attach(self, wishes: Wishes) -> Observer:
        """A new observer; at most OBSERVERS_MOST and a transcriber, which the caller sees to."""
        if wishes.audio != "none":
            self.keep()
        observer = Observer(self.track, wishes, self._first_frame(wishes), self._metrics.observer_missed)
        if wishes.transcribe:
            if self.transcriber is not None:
                self.transcriber.dismiss(REPLACED)
            self.transcriber = observer
            self.transcript.restart()
            if self.sealed:
                observer.release()
        self.observers.append(observer)
        self._metrics.observer_came()
        frame = observer.cursor.frame
        observer.say(Attached(self.session, frame, self.transcript.state(), self.closed))
        return observer

    def detach(self, observer: Observer) -> None:
        self.observers.remove(observer)
        self._metrics.observer_left()
        if self.transcriber is observer:
            self.transcriber = None
        self._on_change(self)

    def drop_frames(self) -> None:
        """Those of a call that is over need not be in memory, once they are on disk."""
        if self._spool.is_whole if self._spool else self._recorded is not None:
            self.track.drop_frames()

    def finalise(self, model: str, duration_ms: int) -> None:
        """The final transcript is complete."""
        self.transcript.final(model, duration_ms)
        self._seal()

    def give_up(self) -> None:
        """Nobody waits for a final transcript any more."""
        if not self.sealed:
            self.transcript.discard()
            self._seal()

    def discard(self) -> None:
        """Nobody will come to it again."""
        if self._spool is not None:
            self._spool.discard()

    def _seal(self) -> None:
        self.sealed = True
        for observer in self.observers:
            observer.release()
        self._on_change(self)

    # -- observers do -----------------------------------------------------------------------------

    def control(self, observer: Observer, command: Control) -> None:
        """Raises WireError."""
        match command:
            case Mute() | Unmute():
                self._asking = observer, command.event_id
            case Close():
                self._closing = self._closing or (observer, command.event_id)
        try:
            self._controls.control(command)
        finally:
            self._asking = None, None

    def heard(self, channel: Channel, words: tuple[Word, ...], through_ms: int) -> int:
        """A transcriber's words; returns how many of them were told before. Raises WireError."""
        latest_ms = self.track.frames * FRAME_MS + BEYOND_MS
        if through_ms > latest_ms:
            raise WireError("invalid_value", f"through_ms must be at most {latest_ms} by now", "through_ms")
        accepted = self.transcript.words(channel, words, through_ms)
        self._controls.heard(channel, accepted.words, accepted.through_ms)
        for notice in self.transcript.notices():
            self._say(Info(notice.code, notice.message))
        return accepted.repeated

    def _first_frame(self, wishes: Wishes) -> int | None:
        """What can be had of what is asked for: as far back as the disk or the last frames reach."""
        if wishes.from_ms is None:
            return None
        oldest = min(self.track.first, self.reel.first if self.reel else self.track.first)
        return max(wishes.from_ms // FRAME_MS, oldest)

    def _note_hit(self, hit: Guarded) -> None:
        at_ms = hit.frame * FRAME_MS
        self._log.info("guardrail %r fired (%s, %s) at %d ms", hit.rule, hit.listen, hit.action, at_ms)
        self._metrics.guardrail_hit(hit.rule, hit.action)
        self.transcript.guarded(hit.rule, hit.listen, hit.action, at_ms)

    def _say(self, event: Event) -> None:
        asker, event_id = self._asking if isinstance(event, Muted | Unmuted) else (None, None)
        self.track.say(event, asker, event_id)
        self._wake()

    def _wake(self) -> None:
        for observer in self.observers:
            observer.awake.set()
