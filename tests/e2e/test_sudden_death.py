"""Killed servers and killed clients: what is kept, and how soon a place is free again."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from audio.recording import open_recording
from duet_client.session import connect
from duet_client.wire import OutputAudioDelta
from tests.e2e.running_server import RunningServer, babble, running_server

CALLER = """
import asyncio, sys
import numpy as np
from duet_client import connect
async def main():
    async with connect(sys.argv[1]) as session:
        print("open", flush=True)
        while True:
            await session.send_audio(np.zeros(1920, np.int16))
            await asyncio.sleep(0.08)
asyncio.run(main())
"""


@pytest.fixture
def server(tiny_model: Path, tmp_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_model, tmp_path, "--capacity", "1") as server:
        yield server


async def call_until_killed(server: RunningServer, seconds: float) -> tuple[int, str]:
    """Talks in real time, kills the server with SIGKILL; the frames that were answered, and the id."""
    audio = babble(1, 10.0).reshape(-1, 1920)
    answered, ends = 0, time.monotonic() + seconds
    async with connect(server.url, store=True) as session:
        for frame in audio:
            await session.send_audio(frame)
            event = await anext(session)
            while not isinstance(event, OutputAudioDelta):
                event = await anext(session)
            answered += 1
            if time.monotonic() > ends:
                break
            await asyncio.sleep(0.05)
        server.process.kill()
        server.process.wait()
        return answered, session.id


def test_a_recording_opens_after_the_server_was_killed_to_within_the_last_second(
    server: RunningServer,
) -> None:
    answered, session_id = asyncio.run(call_until_killed(server, 3.0))
    (path,) = server.recordings.glob(f"**/{session_id}.wav")
    recording = open_recording(path)
    samples = np.asarray(recording.samples)
    assert samples.shape[1] == 2
    assert answered * 1920 - 24000 <= len(samples) <= (answered + 1) * 1920
    assert samples[1920:, 0].any()
    assert samples[1920:, 1].any()


def test_a_client_killed_in_mid_call_frees_its_slot_within_two_seconds(server: RunningServer) -> None:
    with subprocess.Popen([sys.executable, "-c", CALLER, server.url], stdout=subprocess.PIPE) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == b"open\n"
        assert server.metric("duet_sessions_active") == 1
        caller.kill()
    freed = server.until(lambda: server.metric("duet_sessions_active") == 0, within_s=2.0)
    assert asyncio.run(freed)
