"""A whole server in this process, on a port of its own, with the echo engine; and a client for raw looks."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from audio.frames import FRAME_SAMPLES
from server.app import Server, serve
from server.archive import Archive
from server.config import ServerConfig
from server.door import Door
from server.listen import bind
from server.switchboard import Switchboard
from tests.server.echo_engine import EchoRuntime, echo_engine

WAIT_S = 60
"""Longest wait for something that must happen; never how long something takes."""


@dataclass
class Running:
    """One server that runs. port: the one it took."""

    server: Server
    runtime: EchoRuntime
    port: int
    secure: bool = False

    async def seed_arrives(self, seed: int) -> None:
        """Returns once the model has it: it joins sessions on a thread of its own."""
        async with asyncio.timeout(WAIT_S):
            while self.runtime.seeds[-1] != seed:  # noqa: ASYNC110  nothing to be told by
                await asyncio.sleep(0.01)

    @property
    def archive(self) -> Archive:
        return self.server._hall.archive

    @property
    def http(self) -> str:
        return f"{'https' if self.secure else 'http'}://localhost:{self.port}"

    @property
    def live(self) -> str:
        return f"{'wss' if self.secure else 'ws'}://localhost:{self.port}/v1/live/sessions"

    @property
    def moshi(self) -> str:
        return f"ws://localhost:{self.port}/api/chat"


@asynccontextmanager
async def running(
    recordings: Path | None = None,
    tls: ssl.SSLContext | None = None,
    door: Door | None = None,
    **settings: Any,
) -> AsyncIterator[Running]:
    """Starts and stops a server; on the way out nothing of it may be left."""
    before = asyncio.all_tasks()
    defaults: dict[str, Any] = {"capacity": 2, "host": "127.0.0.1"}
    kept: dict[str, Any] = {"recordings": recordings} if recordings else {"keep": "off"}
    config = ServerConfig(**defaults | kept | settings)
    runtime, board = EchoRuntime(config.capacity), Switchboard()
    engine = echo_engine(runtime, board.on_step)
    sockets = bind(config.host, 0)
    async with serve(config, engine, board, sockets, tls, door=door) as server:
        yield Running(server, runtime, sockets[0].getsockname()[1], tls is not None)
    left = asyncio.all_tasks() - before
    assert not left, f"tasks are left over: {left}"


class Talker:
    """A client of the Live wire that shows every message as it came."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.session: dict[str, Any] = {}

    async def say(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind} | fields))

    async def speak(self, audio: bytes) -> None:
        await self.say("session.input_audio.append", audio=base64.b64encode(audio).decode())

    async def hear(self) -> dict[str, Any]:
        """The next event."""
        async with asyncio.timeout(WAIT_S):
            event: dict[str, Any] = json.loads(await self.socket.recv())
        return event

    async def hear_until(self, kind: str) -> list[dict[str, Any]]:
        """Every event up to the first of that type."""
        events = [await self.hear()]
        while events[-1]["type"] != kind:
            events.append(await self.hear())
        return events

    async def hear_out(self) -> list[dict[str, Any]]:
        """Every event until the connection ends."""
        events: list[dict[str, Any]] = []
        try:
            while True:
                events.append(await self.hear())
        except ConnectionClosed:
            return events

    async def start(self, **session: Any) -> None:
        await self.say("session.start", session={"model": "default"} | session)
        self.session = (await self.hear())["session"]

    def cut(self) -> None:
        """Vanishes in the middle of the call, without a word."""
        self.socket.transport.abort()

    @property
    def close_code(self) -> int | None:
        return self.socket.close_code


@asynccontextmanager
async def talking(address: str, **options: Any) -> AsyncIterator[Talker]:
    async with connect(address, **{"max_queue": None} | options) as socket:
        yield Talker(socket)


def tone(frames: float, level: int = 1000) -> bytes:
    """So many frames of one level, s16le at 24 kHz."""
    return np.full(int(frames * FRAME_SAMPLES), level, "<i2").tobytes()


def audio_of(events: list[dict[str, Any]]) -> bytes:
    """All audio of these events."""
    deltas = [event["delta"] for event in events if event["type"] == "session.output_audio.delta"]
    return b"".join(base64.b64decode(delta) for delta in deltas)


def types_of(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


class Logged(logging.Handler):
    """Keeps the errors that are logged while it is attached."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
