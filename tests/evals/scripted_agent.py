"""A small real server of the Live wire whose agent speaks on a script, for the driver's tests.

One frame out for each frame in, as a full-duplex model does it. What may go wrong is a field of `Agent`.
"""

from __future__ import annotations

import asyncio
import http
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import numpy as np
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from duet_client import wire

FRAME_BYTES, FRAME_S = 3840, 0.08
_TONE = (np.sin(np.arange(1920) * 2 * np.pi * 20 / 1920) * 8000).astype("<i2").tobytes()
_SILENCE = bytes(FRAME_BYTES)


@dataclass(slots=True)
class Agent:
    """speaks: (from, to) in seconds of its own stream, to the frame.

    answers_after_s: it also speaks once it has heard the user and then so much silence, for 2 s.
    yields: it stops for good when the user speaks while it does.
    vanish_at: the frame (from 1) at which the connection dies; only in the first `bad_calls` calls.
    mute_at: the frame from which it sends nothing any more. full: it refuses every call.
    hoards: it sends so many frames together.
    """

    speaks: tuple[tuple[float, float], ...] = ()
    answers_after_s: float | None = None
    yields: bool = False
    vanish_at: int = 0
    bad_calls: int = 10**9
    mute_at: int = 0
    full: bool = False
    hoards: int = 1
    url: str = ""
    seeds: list[int | None] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Agent]:
        async with serve(
            self._call, "127.0.0.1", 0, process_request=self._admit, compression=None, close_timeout=1
        ) as server:
            self.url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
            yield self

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path.endswith("/models"):
            return connection.respond(http.HTTPStatus.NOT_FOUND, "")
        if not self.full:
            return None
        body = json.dumps({"error": {"type": "server_full", "message": "all 1 places are taken"}}).encode()
        return Response(503, "Service Unavailable", Headers({"Content-Length": str(len(body))}), body)

    async def _call(self, socket: ServerConnection) -> None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        with suppress(ConnectionClosed):
            await _Call(self, socket).run()
        self.at_once -= 1


@dataclass(slots=True)
class _Call:
    agent: Agent
    socket: ServerConnection
    frame: int = 0
    number: int = 0
    held: bytearray = field(default_factory=bytearray)
    heard_user: bool = False
    silent_frames: int = 0
    answers_until: int = 0
    gave_way: bool = False

    async def run(self) -> None:
        async for message in self.socket:
            if isinstance(message, bytes):
                await self._frame(message)
                continue
            match wire.parse_command(message):
                case wire.SessionStart(duet=options):
                    self.agent.seeds.append(options.seed)
                    self.number = len(self.agent.seeds)
                    await self._say(wire.SessionStarted({"id": "sess_1", "model": "scripted"}))
                case wire.Close():
                    await self._say(wire.SessionClosed("close_requested", {}, self.frame * FRAME_S))
                    return

    async def _frame(self, message: bytes) -> None:
        assert len(message) == FRAME_BYTES
        self.frame += 1
        if self.frame == self.agent.vanish_at and self.number <= self.agent.bad_calls:
            self.socket.transport.abort()
            await self.socket.wait_closed()
            return
        if self.agent.mute_at and self.frame >= self.agent.mute_at:
            return
        sound = self._sound(bool(np.abs(np.frombuffer(message, "<i2")).max() > 1000))
        self.held += _TONE if sound else _SILENCE
        if self.frame % self.agent.hoards == 0:
            await self.socket.send(bytes(self.held))
            self.held.clear()
        if sound:
            start = (self.frame - 1) * 80
            await self._say(wire.OutputTranscriptDelta(f" w{self.frame}", start, start + 80))
        await asyncio.sleep(0)

    def _sound(self, user: bool) -> bool:
        """Whether the agent speaks in this frame, after hearing the user in it."""
        self.silent_frames = 0 if user else self.silent_frames + 1
        self.heard_user = self.heard_user or user
        wanted = self.agent.answers_after_s
        if wanted is not None and self.heard_user and self.silent_frames * FRAME_S >= wanted:
            self.heard_user = False
            self.answers_until = self.frame - 1 + round(2 / FRAME_S)
        at = (self.frame - 1) * FRAME_S
        sound = self.frame <= self.answers_until or any(
            start <= at + 1e-9 < end for start, end in self.agent.speaks
        )
        self.gave_way = self.gave_way or (self.agent.yields and sound and user)
        return sound and not self.gave_way

    async def _say(self, event: wire.Event) -> None:
        await self.socket.send(wire.dump_event(event, "ev_1"))
