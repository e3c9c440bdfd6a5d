"""All calls as their observers can find them: those that run, and those that somebody still waits for.

Refuses to know sockets, routes and how a call runs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from duet_client.wire import CallClosed, CallStarted
from server.actions import Join
from server.observation_metrics import ObservationMetrics
from server.sideband.feed import Controls, Feed
from server.sideband.observer import STOPPED
from server.sideband.watch import Watch
from server.spool import Reel, Spool, SpoolEntry
from server.transcripts.desk import Desk

FINAL_WAIT_S = 600.0
"""How long a call that has ended waits for its final transcript."""


class Hub:
    """Keeps every call until its final transcript is there, or else, from the first on, what observers hear.

    recordings: their folder. is_recording: whether a recording is still under way, by its session's id.
    spool: None where nothing of a call may be kept. clock: in seconds.
    """

    def __init__(
        self,
        desk: Desk,
        metrics: ObservationMetrics,
        *,
        recordings: Path,
        is_recording: Callable[[str], bool],
        spool: Spool | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._desk = desk
        self._recordings = recordings
        self._is_recording = is_recording
        self._spool = spool
        self._metrics = metrics
        self._feeds: dict[str, Feed] = {}
        self._give_up_at: dict[str, float] = {}
        self._watches: list[Watch] = []
        self._clock = clock
        self._settled = asyncio.Event()
        self._impatient = False

    # -- calls ------------------------------------------------------------------------------------

    def open(self, join: Join, controls: Controls) -> Feed:
        """A call starts."""
        session_id = str(join.session["id"])
        feed = Feed(
            join.session,
            controls,
            self._desk.open(session_id, join.metadata),
            recorded=Reel(self._recordings, session_id) if join.recorded else None,
            open_spool=partial(self._open_spool, session_id, join.metadata),
            metrics=self._metrics,
            on_change=self._changed,
        )
        self._feeds[session_id] = feed
        if self._desk.wants_final:
            feed.keep()
        for watch in self._watches:
            watch.tell(CallStarted(feed.session))
        return feed

    def find(self, session_id: str) -> Feed | None:
        """One that runs, or has ended and is waited for."""
        return self._feeds.get(session_id)

    def tick(self) -> None:
        """Time went by."""
        now = self._clock()
        for session_id, at in list(self._give_up_at.items()):
            feed = self._feeds[session_id]
            if not self._is_recording(session_id):
                feed.drop_frames()
            if now >= at:
                feed.give_up()

    def _open_spool(self, session_id: str, metadata: dict[str, Any], first: int) -> SpoolEntry | None:
        return self._spool.open(session_id, metadata, first) if self._spool is not None else None

    def _changed(self, feed: Feed) -> None:
        """A feed closed, was sealed, or has an observer less."""
        if not feed.closed:
            return
        if feed.id not in self._give_up_at:
            self._give_up_at[feed.id] = self._clock() + FINAL_WAIT_S
            for watch in self._watches:
                watch.tell(self._closed(feed))
        if not feed.observers and not self._waits_for(feed):
            self._forget(feed)
        self._settle()

    def _waits_for(self, feed: Feed) -> bool:
        return self._desk.wants_final and not feed.sealed

    def _forget(self, feed: Feed) -> None:
        if self._feeds.pop(feed.id, None) is not None:
            del self._give_up_at[feed.id]
            feed.discard()

    def _closed(self, feed: Feed) -> CallClosed:
        return CallClosed(feed.id, feed.reason, feed.track.frames, self._waits_for(feed))

    # -- those who hear of them -------------------------------------------------------------------

    def watch(self) -> Watch:
        """Hears of every call that runs or is waited for, and then of each that starts or closes."""
        watch = Watch()
        for feed in self._feeds.values():
            if not feed.closed or self._waits_for(feed):
                watch.tell(CallStarted(feed.session))
            if feed.closed and self._waits_for(feed):
                watch.tell(self._closed(feed))
        self._watches.append(watch)
        return watch

    def unwatch(self, watch: Watch) -> None:
        self._watches.remove(watch)

    # -- the end ----------------------------------------------------------------------------------

    async def settle(self, timeout_s: float) -> None:
        """Waits for the final transcripts that somebody is making, but not for ever."""
        self._settle()
        try:
            async with asyncio.timeout(timeout_s):
                await self._settled.wait()
        except TimeoutError:
            pass

    def settle_for_less(self) -> None:
        """They are waited for no longer."""
        self._impatient = True
        self._settle()

    def stop(self) -> None:
        """Whoever listens goes; nobody is waited for any more."""
        for watch in self._watches:
            watch.dismiss(STOPPED)
        for feed in list(self._feeds.values()):
            for observer in feed.observers:
                observer.dismiss(STOPPED)
            if feed.closed:
                feed.give_up()

    def close(self) -> None:
        """Removes what was kept for observers. Blocks for what is still being written."""
        if self._spool is not None:
            self._spool.close()

    def _settle(self) -> None:
        ended = [feed for feed in self._feeds.values() if feed.closed and self._waits_for(feed)]
        if any(feed.transcriber for feed in ended) and not self._impatient:
            self._settled.clear()
        else:
            self._settled.set()
