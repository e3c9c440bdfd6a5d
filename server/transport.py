"""One client's WebSocket: messages in and out, held back or cut, and whether anybody is still there.

Pings are answered and pongs seen as soon as they are read, whatever the session does; a client that is
held back cannot be heard, so for it the ping's clock stands still, and the kernel tells whether it has
gone (POLLRDHUP) or vanished (TCP_USER_TIMEOUT). aiohttp's own heartbeat counts on receive() being
called all the time (aiohttp/web_ws.py, _pong_not_received), which a held-back reader breaks.
Refuses to know what the messages say.
"""

from __future__ import annotations

import asyncio
import select
import socket
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress

from aiohttp import WSMsgType, web

from duet_client.wire import CloseCode
from server.auth import SUBPROTOCOL
from server.errors import SocketLost
from server.websocket import BoundedWebSocket, MessageTooBig

BUFFER_BYTES = 1 << 16
"""Kernel buffers and write buffer, each: a few seconds of audio, so that a stall shows soon."""
CLOSE_S = 2.0
"""How long a client has to answer a close."""

_GOODBYES = (0, CloseCode.NORMAL, CloseCode.GOING_AWAY)
"""aiohttp's 0 is a close frame without a code, as a browser's close() sends it."""


class Socket:
    """See the module. ping_interval_s: also how long a pong may take."""

    def __init__(self, max_message_bytes: int, ping_interval_s: float) -> None:
        self.response = BoundedWebSocket(
            max_message_bytes, protocols=(SUBPROTOCOL,), timeout=CLOSE_S, writer_limit=0
        )
        self._max_message_bytes = max_message_bytes
        self._ping_interval_s = ping_interval_s
        self._transport: asyncio.Transport | None = None
        self._held = False
        self._last_sign = 0.0

    async def accept(self, request: web.Request) -> None:
        """Answers the upgrade. Raises ConnectionError where the client has left already."""
        transport = request.transport
        if transport is None or not isinstance(transport, asyncio.Transport):
            raise ConnectionResetError("the client left before the upgrade")
        await self.response.prepare(request)
        self._transport = transport
        self._last_sign = time.monotonic()
        self._tune(transport)

    async def messages(self) -> AsyncIterator[str | bytes]:
        """Until the client closes or is gone. Raises MessageTooBig."""
        while True:
            message = await self.response.receive()
            self._last_sign = time.monotonic()
            if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                self._measure(message.data)
                yield message.data
            elif message.type is WSMsgType.PING:
                await self._sent(self.response.pong(message.data))
            elif message.type is WSMsgType.ERROR and isinstance(message.data, MessageTooBig):
                raise message.data
            elif message.type is not WSMsgType.PONG:
                return
            self._apply_hold()  # aiohttp may have resumed on its own

    def hold(self, on: bool) -> None:
        """Stops taking bytes from the network, or goes on."""
        if on == self._held:
            return
        self._held = on
        self._last_sign = time.monotonic()
        if not on and (transport := self._still_open()) is not None:
            transport.resume_reading()
        self._apply_hold()

    async def send(self, data: str | bytes) -> None:
        """Returns when the network has taken it. Raises SocketLost."""
        if isinstance(data, str):
            await self._sent(self.response.send_str(data))
        else:
            await self._sent(self.response.send_bytes(data))

    async def ping_forever(self) -> None:
        while True:
            await asyncio.sleep(self._ping_interval_s)
            await self._sent(self.response.ping())

    def is_dead(self, now: float) -> bool:
        """Whether the client has gone, or gave no sign in answer to a ping."""
        if self._held:
            return self._peer_left()
        return now - self._last_sign > 2 * self._ping_interval_s

    @property
    def hung_up(self) -> bool:
        """Whether the client has closed the connection as one does at the end of a call."""
        return self.response.close_code in _GOODBYES

    async def close(self, code: int, reason: str) -> None:
        """Says good-bye and waits CLOSE_S for the answer; nobody may be reading meanwhile, since aiohttp
        would not wait then. Raises TimeoutError if it cannot be sent."""
        self.hold(False)
        async with asyncio.timeout(2 * CLOSE_S):
            await self.response.close(code=code, message=reason.encode())

    def abort(self) -> None:
        """Lets go of the connection, whatever state it is in."""
        if self._transport is not None:
            with suppress(AttributeError):  # see `_still_open`
                self._transport.abort()

    def _tune(self, transport: asyncio.Transport) -> None:
        transport.set_write_buffer_limits(high=BUFFER_BYTES)
        plain = transport.get_extra_info("socket")
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            plain.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)
        unanswered_ms = int(2000 * self._ping_interval_s)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, unanswered_ms)

    def _measure(self, data: str | bytes) -> None:
        size = len(data.encode()) if isinstance(data, str) and not data.isascii() else len(data)
        if size > self._max_message_bytes:
            raise MessageTooBig(self._max_message_bytes)

    def _apply_hold(self) -> None:
        if self._held and (transport := self._still_open()) is not None:
            transport.pause_reading()

    def _still_open(self) -> asyncio.Transport | None:
        """A TLS transport that was closed twice has forgotten its connection, and whatever it is asked then
        is an AttributeError (asyncio/sslproto.py, _SSLProtocolTransport.close)."""
        return None if self._transport is None or self._transport.is_closing() else self._transport

    def _peer_left(self) -> bool:
        transport = self._still_open()
        plain = transport.get_extra_info("socket") if transport is not None else None
        if plain is None or plain.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(plain.fileno(), select.POLLRDHUP)
        return bool(poll.poll(0))

    async def _sent(self, sending: Awaitable[None]) -> None:
        try:
            await sending
        except ConnectionError as error:
            raise SocketLost(str(error)) from error
