"""Ten thousand hostile messages: the process lives, every slot comes back, every answer is a defined one."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from audio.opus import OggOpusWriter
from tests.e2e.running_server import RunningServer, running_server

Message = str | bytes
CONNECTIONS, MESSAGES = 250, 40
DEFINED_CODES = {1000, 1002, 1003, 1007, 1008, 1009}
"""Ours: normal, policy, too big. The WebSocket layer's: protocol error, wrong kind, bad UTF-8. Never 1011."""
EVENT_TYPES = {
    "session.started", "session.closed", "session.output_transcript.delta", "session.output_audio.delta",
    "session.usage.updated", "session.input_audio.muted", "session.input_audio.unmuted", "info", "error",
}  # fmt: skip
START = json.dumps({"type": "session.start", "session": {"model": "default"}})


@pytest.fixture(scope="module")
def server(small_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("fuzz")
    arguments = ["--capacity", "4", "--pace", "free", "--start-timeout-s", "2"]
    with running_server(small_model, folder, *arguments) as server:
        yield server


def junk_json(rng: random.Random) -> str:
    """Valid JSON of no meaning."""
    value: object = rng.choice([None, True, -1, 1e308, "", "\u0000", [], {}, [[[]]], "session.start"])
    key = rng.choice(["type", "session", "audio", "event_id", "model", "", "duet"])
    return json.dumps(rng.choice([value, {key: value}, {"type": value}, [value]]))


def junk_start(rng: random.Random) -> str:
    """A session.start with one thing wrong."""
    wrong: object = rng.choice([None, 5, "x", [], {}, -1, True, 1e400, "audio/opus"])
    session: dict[str, object] = {"model": "default"}
    session.update(
        rng.choice(
            [
                {"model": wrong},
                {"audio": wrong},
                {"audio": {"format": wrong}},
                {"audio": {"format": {"type": "audio/pcm", "rate": wrong}}},
                {"audio": {"output": {"voice": wrong}}},
                {"instructions": wrong},
                {"store": wrong},
                {"duet": wrong},
                {"duet": {"seed": wrong}},
                {"duet": {"text_temperature": wrong}},
                {"delegation": wrong},
            ]
        )
    )
    return json.dumps({"type": "session.start", "session": session, "event_id": wrong})


def append(rng: random.Random) -> str:
    """Audio: whole, empty, one byte, truncated base64, foreign characters, of the wrong type."""
    raw = rng.randbytes(rng.choice([0, 1, 2, 3, 320, 3840, 40_001]))
    text = base64.b64encode(raw).decode()
    audio: object = rng.choice([text, text[:-1], text + "!", "\u00e9", text[:5], None, 7, [text]])
    return json.dumps({"type": "session.input_audio.append", "audio": audio})


def command(rng: random.Random) -> str:
    kind = rng.choice(
        ["session.input_audio.mute", "session.input_audio.unmute", "session.update", "response.create",
         "session.instructions.append", "session.nonsense", "session.start", "decision.create", ""]
    )  # fmt: skip
    return json.dumps({"type": kind, "event_id": rng.choice([None, "e1", 5, "x" * 5000]), "content": "hi"})


def raw_audio(rng: random.Random) -> bytes:
    nan = struct.pack("<8f", *[float("nan")] * 8)
    return rng.choice([b"", b"\x01", b"\x01\x02", nan, rng.randbytes(rng.randrange(5000)), bytes(3840)])


LIVE: list[Callable[[random.Random], Message]] = [
    junk_json, junk_start, append, command, raw_audio,
    lambda rng: rng.randbytes(rng.randrange(200)),
    lambda rng: rng.randbytes(rng.randrange(200)).decode("latin-1"),
    lambda rng: append(rng)[: rng.randrange(60)],
    lambda _: "[" * 5000,
    lambda _: START,
]  # fmt: skip


class Speaker:
    """An Ogg-Opus stream that is cut, corrupted and repeated on its way."""

    def __init__(self) -> None:
        self._writer = OggOpusWriter()

    def __call__(self, rng: random.Random) -> bytes:
        noise = (np.frombuffer(rng.randbytes(1920), np.int8) / 400).astype(np.float32)
        page = bytearray(self._writer.push(noise))
        if page and rng.random() < 0.1:
            page[rng.randrange(len(page))] ^= 1 << rng.randrange(8)
        if rng.random() < 0.05:
            page = page[: rng.randrange(len(page) + 1)]
        return b"\x01" + bytes(page)


def junk_kind(rng: random.Random) -> Message:
    """A message of nothing but its kind, or of the wrong sort altogether."""
    kinds: list[Message] = [b"", b"\x00", b"\x01", b"\x06", b"\xff", "text"]
    return rng.choice(kinds)


def moshi(speaker: Speaker) -> list[Callable[[random.Random], Message]]:
    return [
        *[speaker] * 6,
        lambda rng: bytes([rng.randrange(256)]) + rng.randbytes(rng.randrange(50)),
        junk_kind,
    ]


async def converse(
    url: str, rng: random.Random, makers: list[Callable[[random.Random], Message]], first: Message
) -> int:
    """Sends MESSAGES messages whatever happens; the code that the connection ended with."""
    async with connect(url, compression=None, max_size=None, close_timeout=10) as socket:
        reading = asyncio.create_task(read_all(socket))
        try:
            if first:
                await socket.send(first)
            for _ in range(MESSAGES):
                await socket.send(rng.choice(makers)(rng))
            await asyncio.sleep(0)
            if rng.random() < 0.5:
                await socket.send(json.dumps({"type": "session.close"}))
            await socket.close()
        except ConnectionClosed:
            pass
        await reading
        assert socket.close_code is not None
        return socket.close_code


async def read_all(socket: ClientConnection) -> None:
    """Every text answer is an event of the vocabulary; an error names itself."""
    with suppress(ConnectionClosed):
        async for message in socket:
            if isinstance(message, str):
                event = json.loads(message)
                assert event["type"] in EVENT_TYPES
                assert event["type"] != "error" or event["error"]["code"] != "internal_error"


async def storm(server: RunningServer) -> list[int]:
    ws = server.url.replace("http", "ws")
    codes = []
    for n in range(0, CONNECTIONS, 2):  # two at once, so that slots come and go beside each other
        pair = []
        for i in (n, n + 1):
            rng = random.Random(i)
            if i % 3 == 2:
                pair.append(converse(f"{ws}/api/chat", rng, moshi(Speaker()), b""))
            else:
                query = rng.choice(["", "?audio=binary"])
                first = START if rng.random() < 0.8 else ""
                pair.append(converse(f"{ws}/v1/live/sessions{query}", rng, LIVE, first))
        codes += await asyncio.gather(*pair)
    return codes


def test_ten_thousand_hostile_messages_leave_a_healthy_server_with_every_slot_free(
    server: RunningServer,
) -> None:
    codes = asyncio.run(storm(server))
    assert CONNECTIONS * MESSAGES == 10_000
    assert len(codes) == CONNECTIONS
    assert set(codes) <= DEFINED_CODES
    assert server.process.poll() is None
    assert asyncio.run(server.until(lambda: server.metric("duet_sessions_active") == 0, within_s=5.0))
    assert '"ok"' in server.get("/health") or "ok" in server.get("/health")
    assert "Traceback" not in server.log()


@pytest.mark.parametrize("wire", ["/v1/live/sessions", "/v1/live/sessions?audio=binary", "/api/chat"])
@pytest.mark.parametrize("size", [2**20 + 1, 8 * 2**20])
def test_a_huge_message_is_answered_with_1009(server: RunningServer, wire: str, size: int) -> None:
    async def send_huge() -> int | None:
        async with connect(
            server.url.replace("http", "ws") + wire, compression=None, max_size=None
        ) as socket:
            if not wire.startswith("/api"):
                await socket.send(START)
            try:
                await socket.send(bytes(size))
                async for _ in socket:
                    pass
            except ConnectionClosed:
                pass
            return socket.close_code

    assert asyncio.run(send_huge()) == 1009


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_path_is_never_made_from_an_unchecked_id(server: RunningServer, method: str) -> None:
    async def status(path: str) -> bytes:
        reader, writer = await asyncio.open_connection("localhost", int(server.url.rsplit(":", 1)[1]))
        writer.write(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer.split(b" ", 2)[1]

    for name in (
        "..%2f..%2fetc%2fpasswd",
        "../../../etc/passwd",
        "sess_" + "A" * 32,
        "sess_x",
        "%00",
        "sess_" + "0" * 32,
    ):
        for tail in ("content", "hangup"):
            assert asyncio.run(status(f"/v1/live/sessions/{name}/{tail}")) in (b"404", b"400", b"405")
