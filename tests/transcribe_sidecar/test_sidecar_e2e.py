"""The sidecar as a process of its own beside a real server: killed or stopped, nothing is lost."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import numpy as np

import duet_client
from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, Samples
from duet_client import wire
from tests.server.serving import Running, running
from tests.transcribe_sidecar.spoken import NEEDS_FLITE, NEEDS_WHISPER, STORY, placed, silence
from transcribe_sidecar.alignment import plain

pytestmark = [NEEDS_FLITE, NEEDS_WHISPER]

LONGEST_S = 400
"""A process starts and Whisper works; on a busy machine that takes its time."""
AT_MY_PRIORITY = """
import sys, transcribe_sidecar.__main__ as sidecar
sidecar._step_back = lambda threads: None
sys.exit(sidecar.main())
"""
"""The lowest one would leave it no time at all beside whatever else a machine that runs tests does."""
ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def sidecar(url: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", AT_MY_PRIORITY, "--server", url),
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'client'}", "DUET_API_KEY": ""},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


class Caller:
    """Says what it is told to, and keeps the user's words that the server tells it."""

    def __init__(self, session: duet_client.Session) -> None:
        self.session = session
        self.heard: list[str] = []

    async def say(self, samples: Samples) -> None:
        for at in range(0, len(samples), 10 * FRAME_SAMPLES):
            await self.session.send_audio(samples[at : at + 10 * FRAME_SAMPLES])

    async def read(self) -> None:
        async for event in self.session:
            if isinstance(event, wire.InputTranscriptDelta):
                self.heard.append(plain(event.delta))

    async def hears(self, word: str) -> None:
        async for event in self.session:
            if isinstance(event, wire.InputTranscriptDelta):
                self.heard.append(plain(event.delta))
                if self.heard[-1] == word:
                    return
        raise AssertionError(f"the call ended before {word!r} was heard, after {self.heard}")


def play(scene: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        async with asyncio.timeout(LONGEST_S):
            await scene()

    asyncio.run(run())


@asynccontextmanager
async def server(folder: Path) -> AsyncIterator[Running]:
    """As fast as the audio comes; nobody is taken to have hung up while the sidecar works."""
    async with running(
        folder, sidecar="external", keep="full", pace="free", silence_after_s=3_600, idle_timeout_s=3_600
    ) as here:
        yield here


@asynccontextmanager
async def calling(here: Running) -> AsyncIterator[Caller]:
    async with duet_client.connect(here.http) as session:
        yield Caller(session)


async def final(here: Running, folder: Path, session_id: str) -> dict[str, list[str]]:
    """The user's words that are written down: `live` as they came, `final` of the last pass."""
    async with aiohttp.ClientSession(here.http) as http:
        while True:
            async with http.get(f"/v1/live/sessions/{session_id}/transcript") as answer:
                content = await answer.json() if answer.status == 200 else {}
            if content.get("status") == "final":
                break
            await asyncio.sleep(0.1)
    lines = map(json.loads, (folder / f"{session_id}.transcript.jsonl").read_text().splitlines())
    live = [line["word"] for line in lines if (line["source"], line.get("channel")) == ("whisper", "user")]
    said = [each["text"] for each in content["utterances"] if each["channel"] == "user"]
    return {"live": [plain(word) for word in live], "final": [plain(word) for word in " ".join(said).split()]}


WORDS = " ".join(STORY).split()
LAST = tuple(sentence.split()[-1] for sentence in STORY)


def inside_the_third_word_after(words: list[wire.Word], text: str) -> int:
    """The sample."""
    word = words[[each.word for each in words].index(text) + 3]
    return (word.start_ms + word.end_ms) // 2 * SAMPLE_RATE // 1000


def test_a_sidecar_that_is_killed_twice_in_mid_word_loses_and_doubles_no_word(tmp_path: Path) -> None:
    samples, words = placed(STORY)
    first, second = (inside_the_third_word_after(words, text) for text in LAST[:2])

    async def scene() -> None:
        async with server(tmp_path) as here, calling(here) as caller:
            async with sidecar(here.http) as one:
                await caller.say(samples[:first])
                await caller.hears(LAST[0])
                one.kill()
            async with sidecar(here.http) as two:
                await caller.say(samples[first:second])
                await caller.hears(LAST[1])
                two.kill()
            async with sidecar(here.http):
                await caller.say(samples[second:])
                await caller.hears(LAST[2])
                await caller.session.close()
                await caller.read()
                assert caller.heard == WORDS
                kept = await final(here, tmp_path, caller.session.id)
                assert kept == {"live": WORDS, "final": WORDS}

    play(scene)


def test_a_sidecar_that_hangs_for_longer_than_the_server_keeps_audio_for_it_hears_all_of_it_later(
    tmp_path: Path,
) -> None:
    parts = [placed((sentence,))[0] for sentence in STORY]

    async def scene() -> None:
        async with server(tmp_path) as here, calling(here) as caller, sidecar(here.http) as hung:
            await caller.say(parts[0])
            await caller.hears(LAST[0])
            hung.send_signal(signal.SIGSTOP)
            await caller.say(np.concatenate([parts[1], silence(25), parts[2]]))
            hung.send_signal(signal.SIGCONT)
            await caller.hears(LAST[2])
            assert caller.heard == WORDS

    play(scene)
