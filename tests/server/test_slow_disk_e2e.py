"""A call that no clock drives waits for a slow disk, so that nothing of its recording is lost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from audio.frames import FRAME_SAMPLES
from audio.recording import RecordingWriter
from server import archive
from server.archive import WAITING_FRAMES, ArchiveEntry
from tests.server.serving import WAIT_S, Running, Talker, running, types_of
from tests.server.sideband.observing import calling, end, hear_frames, listening, recorded, say_frames

FRAMES = 3 * WAITING_FRAMES


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Stands still until the call asks it to catch up, or the test gives up."""
    moves, write, caught_up = threading.Event(), RecordingWriter.write, ArchiveEntry.caught_up

    def held_up(self: RecordingWriter, *frame: object) -> None:
        assert moves.wait(WAIT_S)
        write(self, *frame)  # type: ignore[arg-type]

    async def asked(self: ArchiveEntry) -> None:
        if self._waiting > WAITING_FRAMES // 3:
            moves.set()
        await caught_up(self)

    monkeypatch.setattr(RecordingWriter, "write", held_up)
    monkeypatch.setattr(ArchiveEntry, "caught_up", asked)
    return moves


def test_a_recording_at_a_free_pace_lacks_no_frame_however_slow_the_disk(
    tmp_path: Path, disk: threading.Event
) -> None:
    async def scene() -> None:
        async with running(tmp_path, pace="free") as here:
            async with calling(here, store=True) as client:
                await say_frames(client, 0, FRAMES)
                await hear_frames(client, FRAMES)
                disk.set()
                await end(client)
            kept = await recorded(here, tmp_path, client.session["id"])
            assert (kept[::FRAME_SAMPLES, 0] * 32_768).tolist() == list(range(1, FRAMES + 1))

    asyncio.run(scene())


def test_an_observer_of_a_call_that_nobody_records_hears_every_frame_however_slow_the_disk(
    tmp_path: Path, disk: threading.Event
) -> None:
    async def scene() -> None:
        async with running(tmp_path, pace="free") as here, calling(here) as client:
            await say_frames(client, 0, FRAMES)
            await hear_frames(client, FRAMES)
            disk.set()
            async with listening(here, client.session["id"], from_ms=0) as listener:
                await end(client)
                await listener.to_the_end()
            levels = (listener.samples[::FRAME_SAMPLES, 0] * 32_768).tolist()
            assert levels == list(np.arange(1, FRAMES + 1))

    asyncio.run(scene())


@pytest.fixture
def dead_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Takes nothing until the test is over, as a network folder whose server has gone."""
    moves, write = threading.Event(), RecordingWriter.write

    def held_up(self: RecordingWriter, *frame: object) -> None:
        moves.wait(10 * WAIT_S)
        write(self, *frame)  # type: ignore[arg-type]

    monkeypatch.setattr(RecordingWriter, "write", held_up)
    yield moves
    moves.set()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A line for every time that a call begins to wait for the disk."""
    begun: list[str] = []
    caught_up = ArchiveEntry.caught_up

    async def asked(self: ArchiveEntry) -> None:
        if self._waiting >= WAITING_FRAMES // 2:
            begun.append("waits")
        await caught_up(self)

    monkeypatch.setattr(ArchiveEntry, "caught_up", asked)
    return begun


@asynccontextmanager
async def on(disk: threading.Event, folder: Path) -> AsyncIterator[Running]:
    """A server with such a disk, at a free pace. A call that is over does not wait for its recording."""
    async with running(folder, pace="free") as here:
        hall = here.server._hall
        hall._limits = replace(hall._limits, store_timeout_s=0.01)
        try:
            yield here
        finally:
            disk.set()


async def talk_until_it_waits(client: Talker, waits: list[str]) -> None:
    await say_frames(client, 0, WAITING_FRAMES)
    async with asyncio.timeout(WAIT_S):
        while not waits:  # noqa: ASYNC110  nothing to be told by
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("kept", [{"store": True}, {}])
def test_a_stop_while_a_call_waits_for_the_disk_is_told_to_its_client(
    tmp_path: Path, dead_disk: threading.Event, waits: list[str], kept: dict[str, bool]
) -> None:
    async def scene() -> None:
        async with on(dead_disk, tmp_path) as here, calling(here, **kept) as client:
            await talk_until_it_waits(client, waits)
            here.server.stop_now()
            events = await client.hear_out()
            assert types_of(events)[-1] == "session.closed"
            assert client.close_code == 1001

    asyncio.run(scene())


def test_a_disk_that_takes_nothing_any_more_ends_a_call_s_patience_and_not_the_call(
    tmp_path: Path, dead_disk: threading.Event, waits: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        async with on(dead_disk, tmp_path) as here, calling(here, store=True) as client:
            await say_frames(client, 0, FRAMES)
            await client.say("session.close")
            events = await client.hear_out()
            assert types_of(events).count("session.output_audio.delta") == FRAMES
            assert events[-1]["reason"] == "close_requested"
        assert waits

    monkeypatch.setattr(archive, "STUCK_S", 0.05)
    asyncio.run(scene())
