"""Everybody who is connected: places, the common tick, and how the server empties.

Refuses to know routes, HTTP and what a session does.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from aiohttp import web

from model.engine import Engine
from server.admission import Admission, Unavailable
from server.archive import Archive
from server.call import Call, Setup
from server.config import ServerConfig
from server.connection import Connection
from server.guardrails.delivery import Policy
from server.guardrails.webhooks import Webhooks
from server.limits import Limits
from server.metrics import Metrics
from server.phases import Phases
from server.services import Services
from server.sideband.hub import Hub
from server.sideband.replay import Replay
from server.spool import Spool
from server.switchboard import Switchboard
from server.transcripts.desk import Desk
from server.transport import Socket

TICK_S = 0.04
"""Half a frame: pacing and timeouts need no more."""
FINALS_S = 10.0
"""At a stop, how long a transcriber that is still there has for its last pass over the last calls."""
CLIENT_GONE = 499
"""Nobody reads this status: a connection that ended before its upgrade is no error of the server."""

MakeCall = Callable[[Setup, float], Call]


class Hall:
    """One server's connections and what they share."""

    def __init__(
        self,
        config: ServerConfig,
        engine: Engine,
        board: Switchboard,
        metrics: Metrics,
        *,
        archive: Archive,
        transcripts: Desk,
        policy: Policy,
    ) -> None:
        self.config = config
        self.engine = engine
        self.metrics = metrics
        self.archive = archive
        self.admission = Admission(engine.capacity, engine.bound)
        self.started_unix_s = time.time()
        self._policy = policy
        self._webhooks = Webhooks(metrics.observation.webhook)
        self.transcripts = transcripts
        self.hub = _hub(config, transcripts, archive, metrics)
        self.replay = Replay()
        is_free = config.pace == "free"
        self.phases = Phases(spreading=not is_free)
        self._services = Services(
            board, metrics, archive, self.hub, self.phases, self._webhooks.post, config.outbox_s, is_free
        )
        self._limits = Limits.of(config)
        self._connections: dict[str, Connection] = {}
        self._is_empty = asyncio.Event()
        self._is_empty.set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answers reach their sessions and time goes by for them."""
        board = self._services.board
        board.connect(self.engine, self.metrics)
        ticking = asyncio.create_task(self._tick())
        try:
            async with self._webhooks.open():
                yield
        finally:
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)
            board.disconnect()
            self.replay.close()
            for part in (self.hub, self.archive, self.transcripts):
                await asyncio.to_thread(part.close)

    def refusal(self) -> Unavailable | None:
        """Why nobody can come in now."""
        return self.admission.refusal(self.engine.failure)

    def unreadiness(self) -> Unavailable | None:
        """Why nobody could come in even if places were free."""
        return self.admission.unreadiness(self.engine.failure)

    async def receive(self, request: web.Request, make_call: MakeCall) -> web.StreamResponse:
        """One connection's whole life; ask `refusal` first, without awaiting in between."""
        session_id = "sess_" + secrets.token_hex(16)
        now = time.monotonic()
        setup = Setup(
            session_id,
            self.engine.info,
            self._limits,
            self.config.recorded,
            time.time() - now,
            secrets.randbits,
            self._policy,
        )
        call = make_call(setup, now)
        socket = Socket(self.config.max_message_bytes, self.config.ping_interval_s)
        with self._place() as give_back:
            try:
                await socket.accept(request)
            except ConnectionError:
                return web.Response(status=CLIENT_GONE)
            connection = Connection(session_id, call, socket, self._services, give_back)
            with self._present(session_id, connection):
                if self.admission.draining:  # the server was told to stop during the upgrade
                    connection.drain()
                await connection.run()
        return socket.response

    def find(self, session_id: str) -> Connection | None:
        return self._connections.get(session_id)

    async def drain(self) -> None:
        """Lets nobody in any more; returns when the last one has left. Calls have `drain_s` to end, and
        clients that do not read no longer."""
        self.admission.draining = True
        for connection in self._everybody():
            connection.drain()
        await self.empty(self._limits.drain_s)
        for connection in self._everybody():
            connection.hurry()
        await self._is_empty.wait()
        await self.hub.settle(FINALS_S)

    def stop_now(self) -> None:
        self.admission.draining = True
        for connection in self._everybody():
            connection.stop_now()
        self.hub.settle_for_less()

    async def empty(self, timeout_s: float) -> None:
        """Waits for the last one to leave, but not for ever."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._is_empty.wait()
        except TimeoutError:
            pass

    def _everybody(self) -> list[Connection]:
        return list(self._connections.values())

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            for connection in self._everybody():
                connection.tick()
            self.hub.tick()

    @contextmanager
    def _place(self) -> Iterator[Callable[[], None]]:
        """Takes a place, which is given back once: early, by who holds it, or at the end."""
        self.admission.take()
        taken = [True]

        def give_back() -> None:
            if taken:
                taken.clear()
                self.admission.give_back()

        try:
            yield give_back
        finally:
            give_back()

    @contextmanager
    def _present(self, session_id: str, connection: Connection) -> Iterator[None]:
        self._connections[session_id] = connection
        self._is_empty.clear()
        try:
            yield
        finally:
            del self._connections[session_id]
            if not self._connections:
                self._is_empty.set()


def _hub(config: ServerConfig, transcripts: Desk, archive: Archive, metrics: Metrics) -> Hub:
    """What is kept of a call for its observers, and for how long, follows from what is kept of it at all."""
    spool = Spool() if config.keep != "off" else None
    return Hub(
        transcripts,
        metrics.observation,
        recordings=config.recordings,
        is_recording=archive.is_writing,
        spool=spool,
    )


HALL = web.AppKey("hall", Hall)
