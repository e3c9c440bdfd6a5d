"""What a call still has to send, across connections: a message that may not have arrived is sent again, and
what the server says it has is not. Also how far the call is behind, once a second.

Pure but for the event that wakes the sender. Refuses to know sockets.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping

from duet_client.wire import Channel, LagMode, SidebandCommand, TranscriptAppend, TranscriptLag
from transcribe_sidecar.call import Progress
from transcribe_sidecar.engine import Report
from transcribe_sidecar.resume import Standing


class Outbox:
    """changed: something happened that the sender or whoever waits for room or the end should look at."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.room = asyncio.Event()
        self.room.set()
        self._messages: deque[SidebandCommand] = deque()
        self._progress: Progress | None = None
        self._mode: LagMode = "streaming"

    @property
    def done(self) -> bool:
        """The call is over, all of it was heard and sent."""
        return self._progress is not None and self._progress.done and not self._messages

    @property
    def first(self) -> SidebandCommand | None:
        return self._messages[0] if self._messages else None

    def sent(self) -> None:
        """The first message is on its way."""
        self._messages.popleft()

    def take(self, report: Report) -> None:
        self._messages.extend(report.messages)
        self._progress, self._mode = report.progress, report.mode
        if report.room:
            self.room.set()
        self.changed.set()

    def acknowledge(self, standings: Mapping[Channel, Standing]) -> None:
        """Drops what the server says it has."""
        self._messages = deque(
            message
            for message in self._messages
            if not isinstance(message, TranscriptAppend)
            or message.through_ms > standings[message.channel].through_ms
        )

    def lag(self, now_ms: int) -> TranscriptLag:
        """now_ms: how long the call is by now, heard or not."""
        return TranscriptLag(self._behind("user", now_ms), self._behind("agent", now_ms), self._mode)

    def _behind(self, channel: Channel, now_ms: int) -> int:
        if self._progress is None:
            return max(0, now_ms)
        untold = self._progress.untold.get(channel)
        since = self._progress.now_ms if untold is None else untold
        return max(0, now_ms - since)
