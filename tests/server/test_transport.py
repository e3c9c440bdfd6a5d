"""Half-open, silent, slow and vanished clients, over real sockets."""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import socket
import ssl
import struct
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from server.tls import tls_context
from server.transport import BUFFER_BYTES, Socket
from tests.server.certificates import make_pair
from tests.server.serving import WAIT_S, Logged, Running, audio_of, running, talking, tone

FREED_S = 2.0
"""A place whose owner has vanished is free after this time at the latest."""


async def wait_for_place(here: Running, within_s: float = WAIT_S, **options: Any) -> None:
    """Returns once somebody can get in again."""
    deadline = time.monotonic() + within_s
    while True:
        try:
            async with connect(here.live, **options):
                return
        except InvalidStatus:
            assert time.monotonic() < deadline, "the place was not given back"
            await asyncio.sleep(0.02)


def upgrade(key: str) -> bytes:
    return (
        f"GET /v1/live/sessions?audio=binary HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )


@contextmanager
def errors_of(*loggers: str) -> Iterator[list[str]]:
    """What these loggers called an error meanwhile."""
    handler, told = Logged(), [logging.getLogger(name) for name in loggers]
    messages: list[str] = []
    for logger in told:
        logger.addHandler(handler)
    try:
        yield messages
    finally:
        for logger in told:
            logger.removeHandler(handler)
        messages += [record.getMessage() for record in handler.records]


async def handshake(here: Running) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A client without a WebSocket library: it answers no ping unless told to."""
    reader, writer = await asyncio.open_connection("localhost", here.port)
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(upgrade(key))
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


def masked(opcode: int, payload: bytes) -> bytes:
    """A whole client frame, with a mask of zeros."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else bytes([0xFE]) + size.to_bytes(2, "big")
    return bytes([0x80 | opcode]) + length + bytes(4) + payload


@asynccontextmanager
async def serving(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """One handler on a port of its own."""
    app = web.Application()
    app.router.add_get("/", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "localhost", 0, ssl_context=tls).start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


START = masked(1, b'{"type":"session.start","session":{"model":"default"}}')


def test_a_client_that_answers_no_ping_is_found_and_its_place_freed() -> None:
    async def scene() -> None:
        async with running(capacity=1, ping_interval_s=0.1) as here:
            _, writer = await handshake(here)
            writer.write(START)
            await wait_for_place(here)
            writer.close()

    asyncio.run(scene())


def test_a_client_that_answers_pings_may_be_silent_as_long_as_it_likes() -> None:
    async def scene() -> None:
        async with running(ping_interval_s=0.05) as here, talking(here.live) as client:
            await client.start()
            for _ in range(10):
                async with asyncio.timeout(WAIT_S):
                    await (await client.socket.ping())
                await asyncio.sleep(0.03)
            await client.speak(tone(1))
            await client.hear_until("session.output_audio.delta")

    asyncio.run(scene())


def test_a_client_that_is_held_back_is_not_taken_for_dead() -> None:
    async def scene() -> None:
        async with running(ping_interval_s=0.1) as here, talking(here.live) as client:
            await client.start()
            for _ in range(38):  # 1 s more than is taken at once
                await client.speak(tone(1))
            await client.say("session.close")
            assert len(audio_of(await client.hear_out())) == len(tone(38))
            assert client.close_code == 1000

    asyncio.run(scene())


def test_a_client_killed_in_mid_call_frees_its_place() -> None:
    async def scene() -> None:
        async with running(capacity=1) as here, talking(here.live) as client:
            await client.start()
            await client.speak(tone(1))
            client.cut()
            await wait_for_place(here, FREED_S)

    asyncio.run(scene())


def test_a_client_killed_while_it_is_held_back_frees_its_place() -> None:
    async def scene() -> None:
        async with running(capacity=1) as here:
            here.runtime.gate.clear()  # nothing is written, so no write can tell
            reader, writer = await handshake(here)
            writer.write(START + b"".join(masked(2, tone(1)) for _ in range(60)))
            assert b"session.started" in await reader.readuntil(b"echo")
            await asyncio.sleep(0.1)
            writer.transport.abort()
            await wait_for_place(here, FREED_S)
            here.runtime.gate.set()

    asyncio.run(scene())


def test_a_client_that_reads_nothing_is_cut_and_nobody_else_notices() -> None:
    async def scene() -> None:
        async with running(capacity=2, pace="free", outbox_s=1.0) as here, talking(here.live) as good:
            await good.start()
            _, writer = await handshake(here)
            plain = writer.get_extra_info("socket")
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            writer.write(START)
            writer.transport.set_write_buffer_limits(high=1 << 26)
            for _ in range(400):
                writer.write(masked(2, tone(1)))
            await good.speak(tone(2))
            await good.hear_until("session.output_audio.delta")
            await wait_for_place(here)
            await good.say("session.close")
            assert (await good.hear_out())[-1]["reason"] == "close_requested"
            writer.transport.abort()

    asyncio.run(scene())


def test_a_call_over_tls_works_and_its_killed_client_is_noticed(tmp_path: Path) -> None:
    async def scene() -> None:
        cert, key = make_pair(tmp_path)
        trust = ssl.create_default_context(cafile=str(cert))
        tls = tls_context(cert, key)
        async with running(capacity=1, tls=tls) as here, talking(here.live, ssl=trust) as client:
            await client.start()
            for _ in range(40):
                await client.speak(tone(1))
            await client.hear_until("session.output_audio.delta")
            client.cut()
            await wait_for_place(here, FREED_S, ssl=trust)

    asyncio.run(scene())


def test_small_messages_leave_at_once_and_buffers_are_small_enough_to_feel_a_stall() -> None:
    found: dict[str, int] = {}

    async def look(request: web.Request) -> web.StreamResponse:
        here = Socket(1 << 20, 10.0)
        await here.accept(request)
        plain = request.transport.get_extra_info("socket") if request.transport else None
        assert plain is not None
        found["nodelay"] = plain.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        found["sndbuf"] = plain.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        found["user_timeout"] = plain.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        await here.close(1000, "")
        return here.response

    async def scene() -> None:
        async with serving(look) as port, connect(f"ws://localhost:{port}/") as client:
            await client.wait_closed()

    asyncio.run(scene())
    assert found["nodelay"] == 1
    assert found["sndbuf"] <= 2 * BUFFER_BYTES  # Linux doubles what is asked for
    assert found["user_timeout"] == 20_000


def test_a_tls_connection_that_was_closed_twice_is_dead_and_can_be_held_and_cut(tmp_path: Path) -> None:
    found: list[bool] = []

    async def look(request: web.Request) -> web.StreamResponse:
        here = Socket(1 << 20, 10.0)
        await here.accept(request)
        assert request.transport is not None
        for _ in range(2):  # as a broken pipe and a good-bye do together
            request.transport.close()
        here.hold(True)
        found.append(here.is_dead(time.monotonic()))
        here.hold(False)
        here.abort()
        return here.response

    async def scene() -> list[str]:
        cert, key = make_pair(tmp_path)
        trust = ssl.create_default_context(cafile=str(cert))
        with errors_of("asyncio", "aiohttp.server") as logged:
            async with (
                serving(look, tls_context(cert, key)) as port,
                connect(f"wss://localhost:{port}/", ssl=trust) as client,
            ):
                await client.wait_closed()
        return logged

    assert asyncio.run(scene()) == []
    assert found == [True]


def test_clients_that_are_gone_before_their_upgrade_are_no_error_of_the_server() -> None:
    async def scene() -> list[str]:
        with errors_of("asyncio", "duet.server", "aiohttp.server") as logged:
            async with running() as here:
                for _ in range(30):
                    with socket.create_connection(("127.0.0.1", here.port)) as client:
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        client.sendall(upgrade("AAAAAAAAAAAAAAAAAAAAAA=="))
                await wait_for_place(here)
        return logged

    assert asyncio.run(scene()) == []
