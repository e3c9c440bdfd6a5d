"""One client's connection: carries out what its call decides, and decides nothing itself.

Tasks of it read, write, ping and wait for the disk. Whatever happens to the call goes through
`_step`: a crash ends this connection only. Refuses to know messages' meaning and a session's state.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any

from duet_client.wire import Channel, WireError, Word
from model.config import ModelError
from model.engine import EngineFull, FrameResult, Ticket
from server.actions import (
    Deed,
    Dropped,
    End,
    Finish,
    Hold,
    Join,
    Padded,
    PauseReading,
    Publish,
    Record,
    ResumeReading,
    Send,
    Submit,
    Webhook,
)
from server.archive import ArchiveEntry
from server.call import Call, Control
from server.endings import (
    CONNECTION_LOST,
    HUNG_UP,
    INTERNAL_ERROR,
    MESSAGE_TOO_BIG,
    MODEL_ERROR,
    REMOTE_HANGUP,
    SHUT_DOWN,
    SLOW_CLIENT,
    Ending,
)
from server.errors import SocketLost
from server.logs import SessionLog
from server.outbox import Outbox
from server.services import Services
from server.sideband.feed import Feed
from server.transport import CLOSE_S, Socket
from server.websocket import MessageTooBig

log = logging.getLogger("duet.server")


class Connection:
    """give_back: called once, when this connection's place in the model is free again."""

    def __init__(
        self, session_id: str, call: Call, socket: Socket, services: Services, give_back: Callable[[], None]
    ) -> None:
        self._session_id = session_id
        self._call = call
        self._socket = socket
        self._services = services
        self._give_back = give_back
        self._log = SessionLog(log, session_id)
        self._outbox = Outbox(services.outbox_s)
        self._undone: deque[Deed] = deque()
        self._unread: deque[str | bytes] = deque()
        self._busy = self._held = self._left = self._feeds_soon = False
        self._ticket: Ticket | None = None
        self._entry: ArchiveEntry | None = None
        self._observed: Feed | None = None
        self._unkept: asyncio.Queue[int] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending: Ending | None = None
        self._over = asyncio.Event()

    # -- what happens to it -----------------------------------------------------------------------

    async def run(self) -> None:
        """From the accepted upgrade to the closed connection."""
        reading = self._spawn(self._guarded(self._read))
        for part in (self._write, self._keep, self._socket.ping_forever):
            self._spawn(self._guarded(part))
        try:
            self._step(self._call.open)
            await self._over.wait()
            await self._say_goodbye(self._ending or INTERNAL_ERROR, reading)
        finally:
            self._give_up(SHUT_DOWN)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._socket.abort()

    @property
    def ended(self) -> bool:
        """Whether the session is over; its good-bye and its recording may still take a while."""
        return self._over.is_set()

    def tick(self) -> None:
        """Time went by."""
        self._step(self._tick)

    def hang_up(self) -> None:
        self._step(self._call.end, REMOTE_HANGUP)

    def drain(self) -> None:
        """The server was told to stop."""
        self._step(self._call.drain)

    def stop_now(self) -> None:
        """The server stops."""
        self._step(self._call.end, SHUT_DOWN)
        self.hurry()

    def hurry(self) -> None:
        """From now on a client has CLOSE_S for its good-bye, also where that has begun."""
        self._outbox.hurry(CLOSE_S)

    def control(self, command: Control) -> None:
        """An observer's command. Raises WireError for what cannot be done."""
        refusals: list[WireError] = []

        def act(now: float) -> Iterable[Deed]:
            try:
                return self._call.control(command, now)
            except WireError as error:
                refusals.append(error)
                return []

        self._step(act)
        for refusal in refusals:
            raise refusal

    def heard(self, channel: Channel, words: tuple[Word, ...], through_ms: int) -> None:
        """What a transcriber heard. After the end rules and observers are told, and the client is not."""
        if self.ended:
            deeds = self._call.words(channel, words, through_ms, time.monotonic())
            self._perform(deed for deed in deeds if isinstance(deed, Publish | Webhook))
        else:
            self._step(self._call.words, channel, words, through_ms)

    def _answered(self, result: FrameResult) -> None:
        self._step(self._call.answer, result)

    def _tick(self, now: float) -> Iterable[Deed]:
        if self._socket.is_dead(now):
            self._lose(CONNECTION_LOST)
        return self._call.tick(now)

    # -- one step, and what it takes --------------------------------------------------------------

    def _step(self, act: Callable[..., Iterable[Deed]], *given: Any) -> None:
        if self.ended:
            return
        try:
            self._perform(act(*given, time.monotonic()))
        except Exception:
            self._crash()

    def _perform(self, deeds: Iterable[Deed]) -> None:
        """In order, also what a deed makes the call want on top."""
        self._undone.extend(deeds)
        if self._busy:
            return
        self._busy = True
        try:
            while self._undone:
                deed = self._undone.popleft()
                self._DEEDS[type(deed)](self, deed)
        finally:
            self._busy = False

    def _join(self, deed: Join) -> None:
        board, now = self._services.board, time.monotonic()
        try:
            self._ticket = board.join(deed.sampling, self._answered)
        except EngineFull:
            self._perform(self._call.no_room(now))
            return
        except ModelError:
            self._perform(self._call.end(MODEL_ERROR, now))
            return
        self._services.metrics.session_started()
        self._log.info("session started on slot %d (%s)", self._ticket.slot, self._call.wire)
        self._observed = self._services.hub.open(deed, self)
        if deed.recorded:
            self._entry = self._services.archive.open(self._session_id, deed.metadata)
        hold = Hold(self._services.phases.welcome(self._session_id, time.monotonic()))
        self._perform([*self._call.joined(now), hold])

    def _submit(self, deed: Submit) -> None:
        if self._ticket is not None:
            self._services.metrics.inbox_depth(deed.waiting)
            if not deed.fed:
                self._services.phases.came(self._session_id, deed.arrived)
            self._services.board.submit(self._ticket, deed.frame, deed.arrived)

    def _record(self, deed: Record) -> None:
        if self._entry is not None:
            self._entry.write(deed.user, deed.agent, deed.flags)
        if self._observed is not None:
            self._observed.record(deed.user, deed.agent, deed.flags)

    def _padded(self, deed: Padded) -> None:
        self._services.metrics.padded(deed.frames)

    def _dropped(self, deed: Dropped) -> None:
        self._services.metrics.dropped(deed.frames)

    def _pause(self, _: PauseReading) -> None:
        self._held = True
        self._socket.hold(True)

    def _resume(self, _: ResumeReading) -> None:
        self._held = False
        self._feed_soon()

    def _publish(self, deed: Publish) -> None:
        if self._observed is not None:
            self._observed.publish(deed.said)

    def _post(self, deed: Webhook) -> None:
        self._services.post(self._session_id, deed)

    def _send(self, deed: Send) -> None:
        if not self._outbox.put(deed):
            self._lose(SLOW_CLIENT)

    def _hold(self, deed: Hold) -> None:
        self._outbox.hold(deed.seconds)

    def _finish(self, deed: Finish) -> None:
        stored = self._leave(deed.ending, deed.summary)
        if stored is None:
            self._perform(self._call.stored(time.monotonic()))
        else:
            self._spawn(self._guarded(lambda: self._await_stored(stored)))

    def _end(self, deed: End) -> None:
        self._ending = deed.ending
        if self._ticket is None and deed.ending.close_code is not None:
            self._services.metrics.refused(deed.ending.reason)
        self._over.set()

    _DEEDS: dict[type[Any], Any] = {
        Join: _join,
        Submit: _submit,
        Record: _record,
        Padded: _padded,
        Dropped: _dropped,
        PauseReading: _pause,
        ResumeReading: _resume,
        Send: _send,
        Hold: _hold,
        Publish: _publish,
        Webhook: _post,
        Finish: _finish,
        End: _end,
    }

    # -- the tasks --------------------------------------------------------------------------------

    async def _read(self) -> None:
        async for message in self._socket.messages():
            self._unread.append(message)
            if not self._feeds_soon:
                self._feed()
            await asyncio.sleep(0)
        self._lose(HUNG_UP if self._socket.hung_up else CONNECTION_LOST)

    def _feed_soon(self) -> None:
        if not self._feeds_soon:
            self._feeds_soon = True
            asyncio.get_running_loop().call_soon(self._feed)

    def _feed(self) -> None:
        """Hands over one of what was read, if the call wants it; the rest waits, and so does the socket.

        One message, or a piece of a long one, each turn of the loop: in a burst the answers leave and
        everybody else goes on.
        """
        self._feeds_soon = False
        if self.ended:
            self._unread.clear()
        elif self._call.has_more:
            self._step(self._call.go_on)
        elif self._unread and not self._held:
            self._step(self._call.receive, self._unread.popleft())
        self._wait_or_read()

    def _wait_or_read(self) -> None:
        more = self._call.has_more and not self.ended
        if more or (self._unread and not self._held):
            self._socket.hold(True)
            self._feed_soon()
        elif not self._held:
            self._socket.hold(False)

    async def _write(self) -> None:
        while True:
            message = await self._outbox.take()
            async with asyncio.timeout(self._services.outbox_s):
                await self._socket.send(message.data)
            self._outbox.written()
            self._note_written(message)

    def _note_written(self, message: Send) -> None:
        if message.frames and message.arrived is not None:
            latency_s = time.monotonic() - message.arrived
            for _ in range(message.frames):
                self._services.metrics.frame_out(latency_s)
            if self._services.patient:
                self._unkept.put_nowait(message.frames)
            else:
                self._step(self._call.written, message.frames)

    async def _keep(self) -> None:
        """Of a patient call: until the disk has caught up, what was sent counts as waiting."""
        while True:
            frames = await self._unkept.get()
            for kept in (self._entry, self._observed):
                if kept is not None:
                    await kept.caught_up()
            self._step(self._call.written, frames)

    async def _await_stored(self, stored: Future[Any]) -> None:
        await asyncio.wrap_future(stored)
        self._step(self._call.stored)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        return task

    async def _guarded(self, part: Callable[[], Awaitable[None]]) -> None:
        try:
            await part()
        except SocketLost:
            self._lose(CONNECTION_LOST)
        except TimeoutError:
            self._lose(SLOW_CLIENT)
        except MessageTooBig as error:
            self._step(self._call.end, replace(MESSAGE_TOO_BIG, message=str(error)))
        except Exception:
            self._crash()

    # -- the end ----------------------------------------------------------------------------------

    async def _say_goodbye(self, ending: Ending, reading: asyncio.Task[None]) -> None:
        if ending.close_code is None:
            return
        with suppress(TimeoutError, ConnectionError):
            await self._outbox.emptied()
            reading.cancel()  # the close itself reads, for the client's answer
            await asyncio.wait([reading])
            await self._socket.close(ending.close_code, ending.reason)

    def _lose(self, ending: Ending) -> None:
        """Nobody is there any more, or nobody who reads."""
        self._outbox.close()
        if not self._over.is_set():  # else this is how our own good-bye ends
            self._socket.abort()
        self._step(self._call.end, ending)

    def _crash(self) -> None:
        self._log.exception("the session broke down")
        self._undone.clear()
        self._give_up(INTERNAL_ERROR)

    def _give_up(self, ending: Ending) -> None:
        """Whatever state the call is in: nothing of it stays behind."""
        self._ending = self._ending or ending
        self._over.set()
        self._leave(ending, {})
        if self._observed is not None:
            self._observed.close(ending)

    def _leave(self, ending: Ending, summary: dict[str, Any]) -> Future[Any] | None:
        """Frees the place, once, and has the recording finished; its future, if there is a recording."""
        if self._left:
            return None
        self._left = True
        self._services.phases.left(self._session_id)
        if self._ticket is not None:
            self._services.board.leave(self._ticket)
            self._services.metrics.session_ended(ending.reason)
            self._log.info("session ended: %s %s", ending.reason, summary.get("counts", {}))
        self._give_back()
        entry, self._entry = self._entry, None
        return entry.finish(ending.reason, summary) if entry is not None else None
