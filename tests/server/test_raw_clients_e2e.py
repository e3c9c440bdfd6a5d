"""Integrators who stream raw audio: any format of the wire, any chunk size, both forms."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from websockets.exceptions import ConnectionClosedOK

from audio.formats import Decoder, encode
from tests.server.serving import audio_of, running, talking

SECONDS = 1.5
CHUNK_BYTES = 333


@dataclass(frozen=True)
class Form:
    kind: str
    rate: int
    likeness: float  # correlation of what came back with what was sent

    @property
    def json(self) -> dict[str, object]:
        return {"type": self.kind, "rate": self.rate}

    @property
    def frame(self) -> int:
        return self.rate * 80 // 1000


FORMS = [
    Form("audio/pcm", 24_000, 0.9999),
    Form("audio/pcm", 16_000, 0.999),
    Form("audio/pcmu", 8_000, 0.99),
    Form("audio/pcma", 8_000, 0.99),
]


def melody(rate: int) -> npt.NDArray[np.float32]:
    """A rising tone of SECONDS, different at every moment."""
    time = np.arange(int(SECONDS * rate)) / rate
    return (0.5 * np.sin(2 * np.pi * (300 + 200 * time) * time)).astype(np.float32)


async def binary_call(address: str, form: Form, audio: bytes) -> bytes:
    heard = b""
    async with talking(f"{address}?audio=binary") as client:
        await client.start(audio={"format": form.json})
        for at in range(0, len(audio), CHUNK_BYTES):
            await client.socket.send(audio[at : at + CHUNK_BYTES])
        await client.say("session.close")
        try:
            while True:
                message = await client.socket.recv()
                heard += message if isinstance(message, bytes) else b""
        except ConnectionClosedOK:
            return heard


async def base64_call(address: str, form: Form, audio: bytes) -> bytes:
    async with talking(address) as client:
        await client.start(audio={"format": form.json})
        for at in range(0, len(audio), CHUNK_BYTES):
            await client.speak(audio[at : at + CHUNK_BYTES])
        await client.say("session.close")
        return audio_of(await client.hear_out())


@pytest.mark.parametrize("call", [binary_call, base64_call])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.kind}-{form.rate}")
def test_what_is_sent_in_odd_chunks_comes_back_whole_and_in_its_place(form: Form, call: object) -> None:
    sent = melody(form.rate)

    async def scene() -> bytes:
        async with running() as here:
            back: bytes = await call(here.live, form, encode(form.kind, sent))  # type: ignore[operator]
            return back

    back = Decoder(form.kind).push(asyncio.run(scene()))
    frames = -(-len(sent) // form.frame)
    assert len(back) == frames * form.frame
    echo = back[form.frame :]  # the echo is one frame late
    likeness = np.corrcoef(echo, sent[: len(echo)])[0, 1]
    assert likeness > form.likeness
