"""Messages on their way to one client, in order, and never more than a client may owe reading.

Refuses to know sockets; whoever takes a message says when it is written.
"""

from __future__ import annotations

import asyncio
from collections import deque

from model.engine import INBOX_FRAMES
from server.actions import Send
from server.pacing import FRAME_S

OTHERS_PER_FRAME = 4
"""Text, notices and answers to commands come on top of audio, so many a frame at most."""
BYTES_PER_FRAME = 1 << 14
"""Three times a frame in base64: the answers to a client's commands repeat ids of its own, of any length."""
LEAST_FRAMES = 2 * INBOX_FRAMES
"""A fast model may answer a whole inbox before the socket gets its turn."""


class Outbox:
    """At most `limit_s` of audio, and other messages in proportion."""

    def __init__(self, limit_s: float) -> None:
        self._limit_frames = max(int(limit_s / FRAME_S), LEAST_FRAMES)
        self._waiting: deque[Send] = deque()
        self._frames = self._bytes = 0
        self._closed = False
        self._held_until: float | None = None
        self._patience_s = limit_s
        self._seeing_off: asyncio.Timeout | None = None
        self._some = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()

    def put(self, message: Send) -> bool:
        """False when it is full: the client reads too slowly. Once closed, messages go nowhere."""
        if self._closed:
            return True
        if self._waiting and self._would_overflow(message):
            return False
        self._waiting.append(message)
        self._frames += message.frames
        self._bytes += len(message.data)
        self._empty.clear()
        self._let_go()
        return True

    def hold(self, seconds: float) -> None:
        """What waits leaves so much later, but at once when something is put behind it or `emptied` waits."""
        if seconds > 0 and self._waiting:
            self._held_until = asyncio.get_running_loop().time() + seconds

    def _let_go(self) -> None:
        self._held_until = None
        self._some.set()

    def _would_overflow(self, message: Send) -> bool:
        return (
            self._frames + message.frames > self._limit_frames
            or self._bytes + len(message.data) > self._limit_frames * BYTES_PER_FRAME
            or len(self._waiting) >= self._limit_frames * OTHERS_PER_FRAME
        )

    async def take(self) -> Send:
        """The next message; until `written`, it counts as waiting."""
        while not self._waiting or self._held_until is not None:
            self._some.clear()
            try:
                async with asyncio.timeout_at(self._held_until):
                    await self._some.wait()
            except TimeoutError:
                self._held_until = None
        return self._waiting[0]

    def written(self) -> None:
        if not self._waiting:  # closed while it was being written
            return
        message = self._waiting.popleft()
        self._frames -= message.frames
        self._bytes -= len(message.data)
        if not self._waiting:
            self._empty.set()

    def close(self) -> None:
        """Forgets what waits."""
        self._closed = True
        self._waiting.clear()
        self._empty.set()

    async def emptied(self) -> None:
        """Returns once everything is written. Raises TimeoutError if that takes longer than `limit_s`, or
        than `hurry` lets it."""
        self._let_go()
        try:
            async with asyncio.timeout(self._patience_s) as self._seeing_off:
                await self._empty.wait()
        finally:
            self._seeing_off = None

    def hurry(self, within_s: float) -> None:
        """From now on `emptied` takes no longer than this, also where it waits already."""
        self._patience_s = min(self._patience_s, within_s)
        if self._seeing_off is not None and not self._seeing_off.expired():
            latest = asyncio.get_running_loop().time() + within_s
            self._seeing_off.reschedule(min(latest, self._seeing_off.when() or latest))
