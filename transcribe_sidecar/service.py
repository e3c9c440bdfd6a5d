"""The sidecar as a process: one connection that tells of calls, one follower for each, one thread that hears.

Refuses to know how a call is followed and how it is heard.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import dataclass
from typing import Protocol

import duet_client
from duet_client import wire
from transcribe_sidecar.config import Settings
from transcribe_sidecar.engine import Engine, Hearer
from transcribe_sidecar.errors import HearingFailed, SidecarError
from transcribe_sidecar.follow import Follower
from transcribe_sidecar.retry import Delay, passes

_STOP_S = 4.0
_LOG = logging.getLogger(__name__)


class Model(Hearer, Protocol):
    """A hearer that is loaded on the thread which uses it. name: as transcripts tell it."""

    name: str

    def load(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Followed:
    task: asyncio.Task[None]
    wanted: asyncio.Future[bool]


class Service:
    """Follows every call of a server until it is cancelled."""

    def __init__(self, settings: Settings, hearer: Model) -> None:
        self._settings = settings
        self._hearer = hearer
        self._engine = Engine(hearer)
        self._followed: dict[str, _Followed] = {}

    async def run(self) -> None:
        """Raises SidecarError where it can never work: a wrong key, a model that cannot be loaded."""
        broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        thread = threading.Thread(target=self._engine_thread, args=(broken,), name="engine", daemon=True)
        thread.start()
        watching = asyncio.create_task(self._watch())
        try:
            await asyncio.wait([watching, broken], return_when=asyncio.FIRST_COMPLETED)
            await (broken if broken.done() else watching)
        finally:
            tasks = [watching, *(each.task for each in self._followed.values())]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._engine.stop()
            await asyncio.to_thread(thread.join, _STOP_S)

    def _engine_thread(self, broken: asyncio.Future[None]) -> None:
        try:
            self._hearer.load()
            self._engine.run()
        except Exception as error:
            told = error if isinstance(error, SidecarError) else HearingFailed(f"hearing failed: {error!r}")
            broken.get_loop().call_soon_threadsafe(broken.set_exception, told)

    async def _watch(self) -> None:
        """Says once when the server is away, and once when it is there."""
        delay, away = Delay(), False
        while True:
            try:
                async with duet_client.observe(self._settings.server, key=self._settings.key) as calls:
                    _LOG.info("connected again" if away else "connected")
                    delay, away = Delay(), False
                    async for event in calls:
                        self._heed(event)
                problem = "the server has stopped"
            except duet_client.DuetError as error:
                if not passes(error) and not isinstance(error, duet_client.SessionLost):
                    raise SidecarError(str(error)) from None
                problem = str(error)
            if not away:
                _LOG.info("%s; waiting for it", problem)
                away = True
            await delay.wait()

    def _heed(self, event: wire.CallStarted | wire.CallClosed) -> None:
        if isinstance(event, wire.CallStarted):
            self._follow(str(event.session.get("id", "")))
            return
        followed = self._followed.get(event.session_id)
        if followed is not None and not followed.wanted.done():
            followed.wanted.set_result(event.final_wanted)

    def _follow(self, session_id: str) -> None:
        if session_id in self._followed:
            return
        wanted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        follower = Follower(self._settings, self._engine, self._hearer.name, session_id, wanted)
        task = asyncio.create_task(follower.follow())
        self._followed[session_id] = _Followed(task, wanted)
        task.add_done_callback(lambda done: self._over(session_id, done))

    def _over(self, session_id: str, done: asyncio.Task[None]) -> None:
        del self._followed[session_id]
        if not done.cancelled() and (error := done.exception()) is not None:
            _LOG.error("session %s cannot be followed: %s", session_id, error)
