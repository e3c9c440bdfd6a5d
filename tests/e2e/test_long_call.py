"""A call may last for hours: the context slides and memory stays flat.

DUET_LONG_CALL_S sets the length; two hours is DUET_LONG_CALL_S=7200.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from duet_client.session import Session, connect
from duet_client.wire import OutputAudioDelta
from tests.e2e.running_server import GREEDY, RunningServer, babble, running_server

LENGTH_S = float(os.environ.get("DUET_LONG_CALL_S", "60"))
GROWTH_MAX = 16 * 1024**2


@pytest.fixture
def server(tiny_model: Path, tmp_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_model, tmp_path, "--capacity", "1", "--pace", "free") as server:
        yield server


async def long_call(server: RunningServer) -> tuple[int, int, list[int]]:
    """Frames sent, samples received, and the server's resident bytes at every tenth of the call."""
    frames = int(LENGTH_S * 12.5)
    speech = babble(1, 8.0).reshape(-1, 1920)
    process = psutil.Process(server.process.pid)
    received, resident, loudest = 0, [], 0
    async with connect(server.url, sampling=GREEDY, store=True) as session:
        speaking = asyncio.create_task(_speak(session, speech, frames))
        async for event in session:
            if isinstance(event, OutputAudioDelta):
                samples = np.frombuffer(event.audio, "<i2")
                received += len(samples)
                loudest = max(loudest, int(np.abs(samples.astype(int)).max()))
                if received // 1920 % (frames // 10) == 0:
                    resident.append(process.memory_info().rss)
        await speaking
    assert 0 < loudest < 32767  # neither silent nor broken
    return frames, received, resident


async def _speak(session: Session, speech: np.ndarray, frames: int) -> None:  # type: ignore[type-arg]
    for n in range(frames):
        await session.send_audio(speech[n % len(speech)])
    await session.close()


def test_memory_stays_flat_and_no_frame_is_lost_over_many_contexts(server: RunningServer) -> None:
    frames, received, resident = asyncio.run(long_call(server))
    assert received == frames * 1920
    assert len(resident) == 10
    assert max(resident[2:]) - resident[1] < GROWTH_MAX
