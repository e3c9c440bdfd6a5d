"""The moshi package's own client code, with its sound card replaced, against a whole server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import aiohttp
import numpy as np
import pytest

from tests.server.serving import WAIT_S, running

FRAMES = 24


class SoundCard:
    """What the client opens as a stream; a test plays and records through `callback`."""

    def __init__(self, *, callback: Callable[..., None], **_: Any) -> None:
        self.callback = callback

    def __enter__(self) -> SoundCard:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Printer:
    """Keeps what the client would show."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.logged: list[tuple[str, str]] = []

    def log(self, level: str, message: str) -> None:
        self.logged.append((level, message))

    def print_token(self, token: str) -> None:
        self.tokens.append(token)

    def print_pending(self) -> None:
        pass

    def print_lag(self) -> None:
        pass


def tone(frame: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    time = (frame * 1920 + np.arange(1920)) / 24_000
    return (0.5 * np.sin(2 * np.pi * 440 * time)).astype(np.float32)[:, None]


def test_the_handshake_comes_first_and_the_seeds_reach_the_model() -> None:
    async def scene() -> None:
        async with running() as here, aiohttp.ClientSession() as http:
            address = f"{here.moshi}?text_seed=3&audio_seed=4&pad_mult=0.5&voice_prompt=NATF0.pt"
            async with http.ws_connect(address) as socket:
                assert await socket.receive_bytes(timeout=WAIT_S) == b"\x00"
                metadata = await socket.receive_bytes(timeout=WAIT_S)
                assert metadata[0] == 4
                told = json.loads(metadata[1:])
                assert told["ignored"] == ["pad_mult", "voice_prompt"]
                assert told["sampling"]["seed"] == (3 << 32) + 4
                await here.seed_arrives((3 << 32) + 4)

    asyncio.run(scene())


def test_audio_that_is_not_opus_ends_one_call_and_the_server_lives() -> None:
    async def scene() -> None:
        async with running(capacity=1) as here, aiohttp.ClientSession() as http:
            for _ in range(2):
                async with http.ws_connect(here.moshi) as socket:
                    await socket.send_bytes(b"\x01" + b"OggS" + bytes(range(256)) * 4)
                    kinds = [message.data[0] async for message in socket]
                    assert kinds == [0, 4, 5]
                    assert socket.close_code == 1008

    asyncio.run(scene())


def test_a_call_with_the_moshi_client(monkeypatch: pytest.MonkeyPatch) -> None:
    module = pytest.importorskip("moshi.client")
    monkeypatch.setattr(module.sd, "InputStream", SoundCard)
    monkeypatch.setattr(module.sd, "OutputStream", SoundCard)
    printer = Printer()

    async def scene() -> list[Any]:
        async with running() as here, aiohttp.ClientSession() as http, http.ws_connect(here.moshi) as socket:
            connection = module.Connection(printer, socket, event_loop=asyncio.get_running_loop())
            playing = asyncio.create_task(connection.run())
            for frame in range(FRAMES):
                connection._on_audio_input(tone(frame), 1920, None, None)
            heard: list[Any] = []
            async with asyncio.timeout(WAIT_S):
                while len(heard) < FRAMES - 2:  # the encoders of both sides hold a little back
                    heard.append(await asyncio.to_thread(connection._output_queue.get, timeout=WAIT_S))
            await socket.close()
            await playing
            return heard

    heard = np.concatenate(asyncio.run(scene()))
    assert 0.3 < np.sqrt(np.mean(heard[4 * 1920 :] ** 2)) < 0.4
    assert printer.tokens[:2] == [" hello", "echo"]
    assert {message for level, message in printer.logged if level == "error"} == set()
