"""One who hears of calls as they start and close.

Pure but for its events. Refuses to know sockets and calls.
"""

from __future__ import annotations

import asyncio
from collections import deque

from duet_client.wire import Event, dump_event
from server.sideband.observer import STOPPED, TOO_SLOW, Farewell

OWED_MOST = 4_096
"""Messages that may wait; who reads none of them is let go, and hears of all when it comes back."""


class Watch:
    """awake: there may be something for it. gone: it has to go, with `farewell`."""

    def __init__(self) -> None:
        self.farewell: Farewell = STOPPED
        self.awake = asyncio.Event()
        self.gone = asyncio.Event()
        self.is_done = False
        self.unsaid = 0
        self._owed: deque[str] = deque()
        self._count = 0

    def tell(self, event: Event) -> None:
        if len(self._owed) >= OWED_MOST:
            self.dismiss(TOO_SLOW)
            return
        self._count += 1
        self._owed.append(dump_event(event, f"event_{self._count}"))
        self.awake.set()

    def dismiss(self, farewell: Farewell) -> None:
        if not self.gone.is_set():
            self.farewell = farewell
            self.gone.set()

    def next(self) -> str | None:
        return self._owed.popleft() if self._owed else None
