"""The real engine with a model that says what a script says: known words, sounding in known frames.

A word is written piece by piece, one a frame, `lead` frames before it begins to sound. And a whole
server around it, in this process.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, Samples, silence
from audio.opus import OggOpusReader, OggOpusWriter
from model.config import ModelInfo, Sampling
from model.engine import Engine, StepReport
from model.runtime import StepOutput
from server.app import serve
from server.config import ServerConfig
from server.guardrails.delivery import Policy
from server.listen import bind
from server.switchboard import Switchboard
from tests.server.echo_engine import put_out_of_sight
from tests.server.serving import WAIT_S, audio_of, talking, tone

INFO = ModelInfo("scripted", "5" * 64, False, "cpu", "float32", 1, 250, Sampling())
PIECE_LETTERS = 3


@dataclass(frozen=True, slots=True)
class Spoken:
    """A word that sounds in frames [begin, end)."""

    word: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Script:
    """lead: frames from a word's first piece to its first sound."""

    words: tuple[Spoken, ...]
    lead: int = 1

    def span(self, first: str, last: str) -> range:
        """The frames from one word's beginning to another's end."""
        begins = [word.begin for word in self.words if word.word == first]
        ends = [word.end for word in self.words if word.word == last]
        return range(begins[0], ends[0])

    def pieces(self) -> dict[int, str]:
        """By frame, as sentencepiece would cut: three letters each."""
        written: dict[int, str] = {}
        for word in self.words:
            text = "\u2581" + word.word
            for n in range(0, len(text), PIECE_LETTERS):
                written[word.begin - self.lead + n // PIECE_LETTERS] = text[n : n + PIECE_LETTERS]
        return written

    def sound(self, frame: int) -> Samples:
        """A tone of its own for each word."""
        for n, word in enumerate(self.words):
            if word.begin <= frame < word.end:
                time = np.arange(frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES) / SAMPLE_RATE
                return (0.3 * np.sin(2 * np.pi * (300 + 40 * n) * time)).astype(np.float32)
        return silence()


def say(*turns: tuple[int, str], frames_a_word: int = 4, lead: int = 1) -> Script:
    """Turns, each with its first sounding frame, words back to back."""
    return Script(
        tuple(
            Spoken(word, first + n * frames_a_word, first + (n + 1) * frames_a_word)
            for first, text in turns
            for n, word in enumerate(text.split())
        ),
        lead,
    )


class ScriptedRuntime:
    """Every session hears the same script from its first frame on."""

    info = INFO

    def __init__(self, capacity: int, script: Script) -> None:
        self.capacity = capacity
        self._script = script
        self._tokens = {frame: n for n, frame in enumerate(script.pieces(), 1)}
        self._count = [0] * capacity

    def join(self, slot: int, _sampling: Sampling) -> None:
        self._count[slot] = 0

    def step(self, slots: Sequence[int], frames: npt.NDArray[np.float32]) -> StepOutput:
        pcm, tokens = np.zeros_like(frames), np.full((len(slots), 2), -1, np.int64)
        for i, slot in enumerate(slots):
            count = self._count[slot]
            pcm[i] = self._script.sound(count)
            tokens[i] = self._tokens.get(count, 0)
            self._count[slot] = count + 1
        return StepOutput(pcm, tokens, np.ones(len(slots), bool), 0.0, 0.0, 0.0)

    def prepare(self) -> None:
        """Nothing to make ready."""

    def measure(self, _rows: int) -> float:
        """Nothing to compute."""
        return 0.0

    def piece(self, token: int) -> str | None:
        """It is its own vocabulary; token 0 is padding."""
        return [None, *self._script.pieces().values()][token]


def scripted_engine(capacity: int, script: Script, on_step: Callable[[StepReport], None]) -> Engine:
    runtime = ScriptedRuntime(capacity, script)
    put_out_of_sight()
    return Engine(runtime, runtime, on_step)


@asynccontextmanager
async def scripted_server(
    script: Script, policy: Policy, recordings: Path | None = None, **settings: Any
) -> AsyncIterator[str]:
    """A server that takes audio as fast as it comes; its host and port."""
    kept: dict[str, Any] = {"recordings": recordings} if recordings else {"keep": "off"}
    defaults: dict[str, Any] = {"capacity": 2, "host": "127.0.0.1", "pace": "free"}
    config = ServerConfig(**defaults | kept | settings)
    board = Switchboard()
    engine = scripted_engine(config.capacity, script, board.on_step)
    sockets = bind(config.host, 0)
    async with serve(config, engine, board, sockets, policy=policy):
        yield f"127.0.0.1:{sockets[0].getsockname()[1]}"


@dataclass(frozen=True, slots=True)
class Heard:
    """What a caller got. audio: s16 [frames, samples] on the Live wire, float32 [samples] on the other."""

    audio: npt.NDArray[Any]
    events: list[dict[str, Any]]
    close_code: int | None

    @property
    def text(self) -> str:
        kind = "session.output_transcript.delta"
        return "".join(event["delta"] for event in self.events if event["type"] == kind)

    def codes(self) -> list[str]:
        return [event["code"] for event in self.events if event["type"] == "info"]

    def loud(self) -> set[int]:
        """The frames that are anything but exact silence."""
        return set(np.flatnonzero(self.audio.any(axis=1)).tolist())


async def live_call(address: str, frames: int, **start: Any) -> Heard:
    """Says so many frames, closes, and hears out."""
    async with talking(f"ws://{address}/v1/live/sessions") as client:
        await client.start(**start)
        await client.speak(tone(frames))
        await client.say("session.close")
        events = await client.hear_out()
        audio = np.frombuffer(audio_of(events), "<i2").reshape(-1, FRAME_SAMPLES)
        return Heard(audio, events, client.close_code)


async def moshi_call(address: str, frames: int, answers: int) -> Heard:
    """Says so many frames and hangs up after so many answers, if the server does not before."""
    writer, reader = OggOpusWriter(), OggOpusReader()
    parts: list[Samples] = []
    async with connect(f"ws://{address}/api/chat") as socket, asyncio.timeout(WAIT_S):
        await socket.recv()
        for _ in range(frames):
            await socket.send(b"\x01" + writer.push(silence()))
        try:
            while sum(map(len, parts)) < answers * FRAME_SAMPLES:
                message = await socket.recv()
                if isinstance(message, bytes) and message[0] == 1:
                    parts.append(reader.push(message[1:]))
        except ConnectionClosed:
            pass
        await socket.close()
        return Heard(np.concatenate(parts), [], socket.close_code)
