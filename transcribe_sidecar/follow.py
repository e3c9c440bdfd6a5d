"""One call, followed from wherever it stands to the end of its final transcript, over as many connections as
that takes.

First the words of the running call, from where the server says they end; once it is over, the whole of it
again for the final transcript. Moves messages between the client and the engine and decides only when to
attach again. Refuses to know how anything is heard.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Literal

import duet_client
from audio.frames import FRAME_MS
from duet_client import wire
from transcribe_sidecar.call import Call
from transcribe_sidecar.config import Settings
from transcribe_sidecar.engine import Engine, Report, Seat
from transcribe_sidecar.outbox import Outbox
from transcribe_sidecar.resume import CHANNELS, Standing, from_ms, standing
from transcribe_sidecar.retry import retried

LAG_EVERY_S = 1.0
WANTED_WITHIN_S = 30.0
_LOG = logging.getLogger(__name__)

_Outcome = Literal["again", "over"]


class Follower:
    """wanted: resolves to whether a final transcript is wanted, when the server has said that."""

    def __init__(
        self, settings: Settings, engine: Engine, model: str, session_id: str, wanted: asyncio.Future[bool]
    ) -> None:
        self._settings = settings
        self._engine = engine
        self._model = model
        self._id = session_id
        self._wanted = wanted
        self._next = 0  # frame to attach from
        self._read_at = 0.0

    async def follow(self) -> None:
        """Returns when nothing is left to do for this call, and when somebody else does it."""
        try:
            state = await self._learn()
            await self._hear(from_ms(state), final=False)
            if await self._final_wanted():
                await self._hear(0, final=True)
        except duet_client.NoSession:
            _LOG.info("session %s is not there any more", self._id)
        except duet_client.SessionLost as lost:
            _LOG.info("session %s is followed by another transcriber: %s", self._id, lost)

    async def _final_wanted(self) -> bool:
        """What the server said of it; one that did not is asked by attaching."""
        try:
            return await asyncio.wait_for(asyncio.shield(self._wanted), WANTED_WITHIN_S)
        except TimeoutError:
            return True

    async def _learn(self) -> dict[wire.Channel, Standing]:
        """Where the words of the call end; from_ms must be known before one attaches for good."""

        async def attached() -> dict[wire.Channel, Standing]:
            async with duet_client.attach(
                self._settings.server, self._id, key=self._settings.key, audio="events"
            ) as observer:
                return standing(observer.attached.transcript)

        return await retried(attached)

    async def _hear(self, start_ms: int, final: bool) -> None:
        """The call from `start_ms` to its end, attaching again as often as needed."""
        self._next, outbox = start_ms // FRAME_MS, Outbox()
        loop = asyncio.get_running_loop()
        seat: Seat | None = None

        def report(found: Report) -> None:
            loop.call_soon_threadsafe(outbox.take, found)

        async def attached() -> _Outcome:
            nonlocal seat, outbox
            async with duet_client.attach(
                self._settings.server,
                self._id,
                key=self._settings.key,
                from_ms=(start_ms if final else self._next * FRAME_MS),  # a final one begins anew
                transcribe=True,
            ) as observer:
                state = standing(observer.attached.transcript)
                if seat is None or final:
                    outbox = Outbox()
                    begun = {channel: Standing() for channel in CHANNELS} if final else state
                    call = Call(observer.attached.frame, begun, final)
                    seat = self._engine.open(self._id, call, report)
                outbox.acknowledge(state)
                return await self._feed(observer, seat, outbox)

        try:
            while await retried(attached) == "again":
                pass
        finally:
            if seat is not None:
                self._engine.drop(seat)

    async def _feed(self, observer: duet_client.Observer, seat: Seat, outbox: Outbox) -> _Outcome:
        """Until the call is over and told, or until it must be attached to again."""
        self._read_at = time.monotonic()
        senders = [
            asyncio.create_task(self._send(observer, outbox)),
            asyncio.create_task(self._send_lag(observer, seat, outbox)),
        ]
        reader = asyncio.create_task(self._read(observer, seat, outbox))
        try:
            await asyncio.wait([reader, *senders], return_when=asyncio.FIRST_COMPLETED)
            for task in (reader, *senders):
                if task.done():
                    return task.result() or "again"
            return "again"
        finally:
            for task in (reader, *senders):
                task.cancel()
            await asyncio.gather(reader, *senders, return_exceptions=True)

    async def _read(self, observer: duet_client.Observer, seat: Seat, outbox: Outbox) -> _Outcome:
        async for item in observer:
            if isinstance(item, duet_client.Frame):
                await self._room(seat, outbox)
                self._engine.put(seat, item)
                self._next, self._read_at = item.index + 1, time.monotonic()
            elif isinstance(item, wire.Gap):
                return "again"
            elif isinstance(item, wire.SessionClosed):
                return await self._finish(observer, seat, outbox)
            elif isinstance(item, wire.Error):
                _LOG.warning("session %s: the server refused: %s", self._id, item.message)
        return "over"

    async def _room(self, seat: Seat, outbox: Outbox) -> None:
        while not seat.room:
            outbox.room.clear()
            if not seat.room:
                await outbox.room.wait()

    async def _finish(self, observer: duet_client.Observer, seat: Seat, outbox: Outbox) -> _Outcome:
        self._engine.put(seat, None)
        while not outbox.done:
            outbox.changed.clear()
            if not outbox.done:
                await outbox.changed.wait()
        if seat.call.final:
            await observer.send(wire.TranscriptFinal(self._model, seat.call.duration_ms))
            async for _ in observer:  # until the server has it
                pass
            _LOG.info("session %s has its final transcript", self._id)
        return "over"

    async def _send(self, observer: duet_client.Observer, outbox: Outbox) -> None:
        while True:
            outbox.changed.clear()
            while (message := outbox.first) is not None:
                await observer.send(message)
                outbox.sent()
                outbox.changed.set()
            await outbox.changed.wait()

    async def _send_lag(self, observer: duet_client.Observer, seat: Seat, outbox: Outbox) -> None:
        """While frames wait to be read the call goes on, so its length is known by the clock alone."""
        while True:
            unread_ms = 0 if seat.room else round(1000 * (time.monotonic() - self._read_at))
            await observer.send(outbox.lag(self._next * FRAME_MS + unread_ms))
            await asyncio.sleep(LAG_EVERY_S)
