"""Moves one listener's messages, and decides nothing: out what it is owed, in what it says.

A listener that stops reading holds up nobody but itself. Refuses to know calls.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from server.errors import SocketLost
from server.sideband.cursor import Read
from server.sideband.observer import BROKEN, TOO_BIG, Farewell
from server.transport import Socket
from server.websocket import MessageTooBig

UNSAID_MOST = 64
"""Answers to its own commands; beyond them it is not heard until it reads."""
WATCH_S = 1.0

log = logging.getLogger("duet.sideband")


class Listener(Protocol):
    """Who is owed messages."""

    farewell: Farewell
    awake: asyncio.Event
    gone: asyncio.Event

    @property
    def is_done(self) -> bool: ...

    @property
    def unsaid(self) -> int: ...

    def next(self) -> str | bytes | Read | None: ...


Hear = Callable[[str | bytes], None]
Fetch = Callable[[Read], Awaitable[None]]


class Stream:
    """hear: takes what the listener says. fetch: hands it the frames of a `Read`; None where it has none."""

    def __init__(self, socket: Socket, listener: Listener, hear: Hear, fetch: Fetch | None = None) -> None:
        self._socket = socket
        self._listener = listener
        self._hear = hear
        self._fetch = fetch
        self._sent = asyncio.Event()

    async def run(self) -> None:
        """From the accepted upgrade to the closed connection."""
        parts = (self._write, self._read, self._watch, self._socket.ping_forever, self._listener.gone.wait)
        tasks = [asyncio.create_task(self._guarded(part)) for part in parts]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(TimeoutError, ConnectionError, SocketLost):
            await self._socket.close(self._listener.farewell.code, self._listener.farewell.reason)
        self._socket.abort()

    async def _guarded(self, part: Callable[[], Awaitable[object]]) -> None:
        try:
            await part()
        except SocketLost:
            pass
        except MessageTooBig:
            self._listener.farewell = TOO_BIG
        except Exception:
            self._listener.farewell = BROKEN
            log.exception("an observer's connection broke down")

    async def _write(self) -> None:
        while True:
            self._listener.awake.clear()
            message = self._listener.next()
            if isinstance(message, str | bytes):
                await self._socket.send(message)
                self._sent.set()
                await asyncio.sleep(0)
            elif message is not None and self._fetch is not None:
                await self._fetch(message)
            elif self._listener.is_done:
                return
            else:
                await self._listener.awake.wait()

    async def _read(self) -> None:
        async for message in self._socket.messages():
            self._hear(message)
            await asyncio.sleep(0)  # what came at once delays nobody, and what it causes can be sent
            while self._listener.unsaid > UNSAID_MOST:
                self._sent.clear()
                await self._sent.wait()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_S)
            if self._socket.is_dead(time.monotonic()):
                return
