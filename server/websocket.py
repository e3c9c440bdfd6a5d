"""aiohttp's WebSocket with a bound on what it gathers of an unfinished message.

aiohttp 3.11 looks at a message's size only when its last byte is there (aiohttp/_websocket/reader_py.py,
_handle_frame), so a client could announce a huge one and fill the memory. The only file that reaches
into aiohttp's private parts: its version is held below 3.12 by moshi, and the tests of this file notice
when that changes. Refuses to know sessions.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from aiohttp import WSMessage, WSMsgType, web

from server.errors import ServerError

SLACK_BYTES = 1 << 19
"""More than one read of the transport: a chunk may end one message and begin the next."""

CONTROL_HEAD_BYTES = 6
"""Of a client's ping or pong (RFC 6455, section 5.2), which may come inside a message but is no part."""


class MessageTooBig(ServerError):
    """A message over the limit; what follows on this connection is thrown away."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"a message may have at most {limit_bytes} bytes (--max-message-bytes)")


class BoundedWebSocket(web.WebSocketResponse):
    """Reports a message that grows past the limit as an ERROR message holding MessageTooBig."""

    def __init__(self, limit_bytes: int, **options: Any) -> None:
        super().__init__(max_msg_size=0, compress=False, autoping=False, **options)
        self._limit_bytes = limit_bytes

    def _post_start(self, request: web.BaseRequest, protocol: str | None, writer: Any) -> None:
        super()._post_start(request, protocol, writer)
        handler = request.protocol
        handler._payload_parser = _Bound(handler._payload_parser, self._reader, self._limit_bytes)


class _Bound:
    """Stands before aiohttp's parser and counts the bytes since the last whole message."""

    def __init__(self, parser: Any, queue: Any, limit_bytes: int) -> None:
        self._parser = parser
        self._queue = queue
        self._limit_bytes = limit_bytes
        self._most_bytes = limit_bytes + SLACK_BYTES
        self._unfinished_bytes = 0

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        if self._unfinished_bytes > self._most_bytes:
            return False, b""
        before = len(self._queue._buffer)
        outcome: tuple[bool, bytes] = self._parser.feed_data(data)
        fresh = islice(self._queue._buffer, before, None)
        self._unfinished_bytes += len(data)
        for message, _ in fresh:
            if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                self._unfinished_bytes = len(data)
            elif message.type in (WSMsgType.PING, WSMsgType.PONG):
                self._unfinished_bytes -= CONTROL_HEAD_BYTES + len(message.data)
        if self._unfinished_bytes > self._most_bytes:
            too_big = MessageTooBig(self._limit_bytes)
            self._queue.feed_data(WSMessage(WSMsgType.ERROR, too_big, None), 0)
        return outcome

    def feed_eof(self) -> None:
        self._parser.feed_eof()
