"""Reads what an observer is to hear again, on threads of its own, so that a slow disk delays no call.

Refuses to know sockets and what an observer gets next.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from server.sideband.cursor import Audio, Cursor, Read
from server.sideband.feed import Feed
from server.sideband.track import Pair
from server.spool import Reel

THREADS = 2
TRIES = 25
AGAIN_S = 0.1
"""A frame that has left memory is on disk a moment later, or the disk has lost it."""
PAUSE_S = 0.05
"""After each 10 s of audio: replays leave most of the machine to the calls."""


class Replay:
    """One for all observers."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, "duet-replay")

    async def fetch(self, feed: Feed, cursor: Cursor, read: Read) -> None:
        """Gives the cursor the frames that it wants; none where they cannot be had."""
        pairs: list[Pair] = []
        for _ in range(TRIES):
            reel = feed.reel
            if reel is None or read.first < reel.first:
                break
            loop = asyncio.get_running_loop()
            pairs = await loop.run_in_executor(self._pool, _pairs, reel, read, cursor.audio)
            await asyncio.sleep(PAUSE_S if pairs else AGAIN_S)
            if pairs:
                break
        cursor.take(pairs)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _pairs(reel: Reel, read: Read, audio: Audio) -> list[Pair]:
    """What it costs to make messages of them is paid here, on the thread."""
    pairs = [Pair(*frame) for frame in reel.read(read.first, read.frames)]
    for pair in pairs:
        _ = pair.binary if audio == "binary" else pair.texts
    return pairs
