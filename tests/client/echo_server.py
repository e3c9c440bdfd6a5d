"""A small real server of the Live wire whose agent repeats the user, for the client's tests.

What may go wrong on a network or in a server is a field of `Trouble`.
"""

from __future__ import annotations

import http
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from duet_client import wire


@dataclass(frozen=True, slots=True)
class Trouble:
    """What this server does wrong; frames are counted from 1 within a call, 0 is never.

    late_as_one: answers are held and sent as one message at the end.
    """

    full: bool = False
    refuse_start: bool = False
    vanish_at: int = 0
    close_at: int = 0
    swallow: int = 0
    repeat: int = 0
    deaf_to_close: bool = False
    late_as_one: bool = False
    garbage_at: int = 0


NONE = Trouble()


@dataclass(slots=True)
class EchoServer:
    """`url` is its base address; `commands` is all that came in, audio as its bytes."""

    trouble: Trouble = NONE
    api_key: str = ""
    url: str = ""
    paths: list[str] = field(default_factory=list)
    commands: list[wire.Command | bytes] = field(default_factory=list)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[EchoServer]:
        server = await serve(
            self._call,
            "127.0.0.1",
            0,
            process_request=self._admit,
            compression=None,
            max_queue=100_000,  # reads on while it closes, whatever the client has still sent
        )
        async with server:
            self.url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
            yield self

    def _admit(self, _: ServerConnection, request: Request) -> Response | None:
        self.paths.append(request.path)
        if self.api_key and request.headers.get("Authorization") != f"Bearer {self.api_key}":
            return _refusal(401, {"type": "missing_api_key", "message": "the echo asks for a key"})
        if self.trouble.full:
            error = {"type": "server_full", "message": "all 4 places are taken", "active": 4, "capacity": 4}
            return _refusal(503, error, {"Retry-After": "7"})
        return None

    async def _call(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        binary = parse_qs(urlsplit(socket.request.path).query).get("audio") == ["binary"]
        with suppress(ConnectionClosed):  # the client hung up
            await _EchoCall(self, socket, binary).run()


def _refusal(status: int, error: dict[str, Any], more: dict[str, str] | None = None) -> Response:
    body = json.dumps({"error": error}).encode()
    headers = Headers({"Content-Length": str(len(body))} | (more or {}))
    return Response(status, http.HTTPStatus(status).phrase, headers, body)


@dataclass(slots=True)
class _EchoCall:
    server: EchoServer
    socket: ServerConnection
    binary: bool
    format: wire.AudioFormat = wire.AudioFormat.DEFAULT
    heard: bytearray = field(default_factory=bytearray)
    held: bytearray = field(default_factory=bytearray)
    session: dict[str, Any] = field(default_factory=dict)
    frames: int = 0

    async def run(self) -> None:
        async for message in self.socket:
            command = message if isinstance(message, bytes) else wire.parse_command(message)
            self.server.commands.append(command)
            if not await self._take(command):
                return

    async def _take(self, command: wire.Command | bytes) -> bool:
        match command:
            case bytes():
                return await self._hear(command)
            case wire.InputAudioAppend(audio=audio):
                return await self._hear(audio)
            case wire.SessionStart():
                return await self._start(command)
            case wire.Mute(event_id=event_id):
                await self._say(wire.Muted(event_id))
            case wire.Unmute(event_id=event_id):
                await self._say(wire.Unmuted(event_id))
            case wire.Close() if not self.server.trouble.deaf_to_close:
                await self._close("close_requested")
                return False
            case _:
                await self._say(wire.Info("heard", type(command).__name__))
        return True

    async def _start(self, start: wire.SessionStart) -> bool:
        if self.server.trouble.refuse_start:
            await self._say(wire.Error("invalid_value", "no such model: echo2", "session.model"))
            return False
        self.format = start.audio_format
        self.session = {"id": "sess_1", "model": "echo", "status": "active", "expires_at": 1_900_000_000}
        self.session["store"] = start.store
        await self._say(wire.Info("voice_unsupported", "the echo has no voice of its own"))
        await self._say(wire.SessionStarted(self.session, start.event_id))
        return True

    async def _hear(self, audio: bytes) -> bool:
        self.heard += audio
        size = self.format.frame_bytes
        while len(self.heard) >= size:
            frame = bytes(self.heard[:size])
            del self.heard[:size]
            self.frames += 1
            if not await self._answer(frame):
                return False
        return True

    async def _answer(self, frame: bytes) -> bool:
        trouble, n = self.server.trouble, self.frames
        if n == trouble.vanish_at:
            self.socket.transport.abort()
            return False
        if n == trouble.close_at:
            await self._close("expired")
            return False
        if n == trouble.garbage_at:
            await self.socket.send('{"type":"info","code":1,"message":"x"}')
        for _ in range(0 if n == trouble.swallow else 2 if n == trouble.repeat else 1):
            await self._play(frame)
        if n % 5 == 1:
            await self._say(wire.OutputTranscriptDelta(f" w{n}", (n - 1) * 80, n * 80))
        return True

    async def _play(self, frame: bytes) -> None:
        if self.server.trouble.late_as_one:
            self.held += frame
        elif self.binary:
            await self.socket.send(frame)
        else:
            await self._say(wire.OutputAudioDelta(frame))

    async def _close(self, reason: wire.CloseReason) -> None:
        if self.heard:
            await self._hear(bytes(self.format.frame_bytes - len(self.heard)))
        if self.held:
            await self.socket.send(bytes(self.held))
        seconds = self.frames * 0.08
        await self._say(wire.UsageUpdated(seconds, 0.25))
        await self._say(wire.SessionClosed(reason, self.session, seconds))
        await self.socket.close(wire.CloseCode.NORMAL)

    async def _say(self, event: wire.Event) -> None:
        await self.socket.send(wire.dump_event(event, "ev_1"))
