"""The sidecar's connections, with an ear that hears a word in everything: it waits, and ends quietly."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import duet_client
from audio.frames import FRAME_SAMPLES
from duet_client import wire
from server.listen import bind
from tests.server import serving
from tests.server.serving import WAIT_S, Running, running
from tests.transcribe_sidecar.spoken import NEEDS_FLITE, placed
from transcribe_sidecar.config import Settings
from transcribe_sidecar.errors import SidecarError
from transcribe_sidecar.filters import Pass
from transcribe_sidecar.service import Service
from transcribe_sidecar.timeline import Window

pytestmark = NEEDS_FLITE
LONGEST_S = 2 * WAIT_S


class Listener:
    """Hears `word` wherever somebody speaks."""

    name = "a test"
    most = 4

    def load(self) -> None:
        pass

    def hear(self, windows: Sequence[Window]) -> list[Pass]:
        return [
            Pass((wire.Word("word", each.runs[0].start_ms, each.runs[-1].end_ms, 0.9),), 0.1, -0.2)
            for each in windows
        ]


@asynccontextmanager
async def serviced(url: str, key: str = "") -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(Service(Settings(server=url, key=key), Listener()).run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def said_and_heard(here: Running) -> None:
    """A call in which something is said, to its end; the caller was told a word."""
    samples, _ = placed(("weather",))
    async with duet_client.connect(here.http) as session:
        for at in range(0, len(samples), 10 * FRAME_SAMPLES):
            await session.send_audio(samples[at : at + 10 * FRAME_SAMPLES])
        async for event in session:
            if isinstance(event, wire.InputTranscriptDelta):
                break
        await session.close()
        async for _ in session:
            pass


async def logged(caplog: pytest.LogCaptureFixture, part: str, times: int = 1) -> None:
    while sum(part in message for message in caplog.messages) < times:  # noqa: ASYNC110  a log can only be looked at
        await asyncio.sleep(0.02)


def play(scene: Callable[[], object]) -> None:
    async def run() -> None:
        async with asyncio.timeout(LONGEST_S):
            await scene()  # type: ignore[misc]

    asyncio.run(run())


def test_it_waits_for_a_server_that_restarts_and_hears_its_calls(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "transcribe_sidecar")

    async def scene() -> None:
        async with running(tmp_path, sidecar="external", keep="full", pace="free") as here:
            url, port = here.http, here.port
        monkeypatch.setattr(serving, "bind", lambda host, _: bind(host, port))
        async with serviced(url):
            await logged(caplog, "waiting for it")
            async with running(tmp_path, sidecar="external", keep="full", pace="free") as first:
                await said_and_heard(first)
                await logged(caplog, "final transcript")
            await logged(caplog, "waiting for it", 2)
            async with running(tmp_path, sidecar="external", keep="full", pace="free") as again:
                await said_and_heard(again)
                await logged(caplog, "final transcript", 2)
                assert sum("waiting for it" in message for message in caplog.messages) == 2

    play(scene)


def test_a_wrong_key_ends_it_with_one_line(tmp_path: Path) -> None:
    async def scene() -> None:
        async with (
            running(tmp_path, sidecar="external", api_keys=("right",)) as here,
            serviced(here.http, "wrong") as task,
        ):
            with pytest.raises(SidecarError, match="key"):
                await task

    play(scene)
