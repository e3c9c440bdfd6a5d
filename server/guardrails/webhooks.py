"""Webhooks on their way: posted by tasks of their own, never in a frame's path.

A bounded queue for each address, so that one that does not answer holds up no other; a bounded number of
tries with growing pauses, a limit on each try. What could not be
delivered is counted and logged by rule and host; the log holds neither the body nor the path of an
address, which may be a secret. Refuses to know rules and sessions.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

import aiohttp

from server.actions import Webhook
from server.logs import SessionLog

WAITING_MOST = 1_000
AT_ONCE = 4
"""Both of one address."""
TRY_S = 5.0
PAUSES_S = (0.5, 2.0, 8.0)
"""After the first try, the second, the third; the fourth is the last."""
LAST_S = 2.0
"""At the server's end, how long those that wait may still take."""
TRY_AGAIN = frozenset({408, 425, 429, *range(500, 600)})

Outcome = Literal["sent", "failed", "dropped"]
Posted = tuple[str, Webhook]

log = logging.getLogger("duet.webhooks")


class Webhooks:
    """count: told of each one's outcome. pauses_s: between tries."""

    def __init__(self, count: Callable[[Outcome], None], pauses_s: tuple[float, ...] = PAUSES_S) -> None:
        self._count = count
        self._pauses_s = pauses_s
        self._waiting: dict[str, asyncio.Queue[Posted]] = {}  # by address
        self._client: aiohttp.ClientSession | None = None
        self._tasks: list[asyncio.Task[None]] = []

    def post(self, session_id: str, webhook: Webhook) -> None:
        """Never waits."""
        queue = self._waiting.get(webhook.url)
        if queue is None:
            queue = self._waiting[webhook.url] = asyncio.Queue(WAITING_MOST)
            self._begin(queue)
        try:
            queue.put_nowait((session_id, webhook))
        except asyncio.QueueFull:
            self._lost(session_id, webhook, "dropped", f"{WAITING_MOST} wait already")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Posts while this is open; on the way out, for LAST_S more."""
        limit = aiohttp.ClientTimeout(total=TRY_S)
        async with aiohttp.ClientSession(timeout=limit, cookie_jar=aiohttp.DummyCookieJar()) as client:
            self._client = client
            for queue in self._waiting.values():
                self._begin(queue)
            try:
                yield
            finally:
                await self._finish()

    def _begin(self, queue: asyncio.Queue[Posted]) -> None:
        if self._client is not None:
            work = [self._work(self._client, queue) for _ in range(AT_ONCE)]
            self._tasks += map(asyncio.create_task, work)

    async def _finish(self) -> None:
        queues = self._waiting.values()
        try:
            async with asyncio.timeout(LAST_S):
                await asyncio.gather(*(queue.join() for queue in queues))
        except TimeoutError:
            pass
        self._client = None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for queue in queues:
            while not queue.empty():
                self._lost(*queue.get_nowait(), "dropped", "the server stops")

    async def _work(self, client: aiohttp.ClientSession, queue: asyncio.Queue[Posted]) -> None:
        while True:
            session_id, webhook = await queue.get()
            try:
                await self._deliver(client, session_id, webhook)
            except asyncio.CancelledError:
                self._lost(session_id, webhook, "dropped", "the server stops")
                raise
            finally:
                queue.task_done()

    async def _deliver(self, client: aiohttp.ClientSession, session_id: str, webhook: Webhook) -> None:
        body = webhook.body | {"session_id": session_id}
        for pause_s in (*self._pauses_s, None):
            problem, hopeless = await _try(client, webhook.url, body)
            if not problem:
                self._count("sent")
                return
            if hopeless or pause_s is None:
                self._lost(session_id, webhook, "failed", problem)
                return
            await asyncio.sleep(pause_s)

    def _lost(self, session_id: str, webhook: Webhook, outcome: Outcome, why: str) -> None:
        self._count(outcome)
        host = urlsplit(webhook.url).hostname
        SessionLog(log, session_id).warning(
            "the webhook of rule %r to %s was %s: %s", webhook.rule, host, outcome, why
        )


async def _try(client: aiohttp.ClientSession, url: str, body: dict[str, Any]) -> tuple[str, bool]:
    """What went wrong, "" for nothing, and whether another try is hopeless."""
    try:
        async with client.post(url, json=body, allow_redirects=False) as response:
            if response.status < 300:
                return "", False
            return f"HTTP {response.status}", response.status not in TRY_AGAIN
    except TimeoutError:
        return f"no answer within {TRY_S:g} s", False
    except (aiohttp.ClientError, OSError) as error:
        return type(error).__name__, False
    except ValueError:  # an address that cannot be asked
        return "the address cannot be used", True
