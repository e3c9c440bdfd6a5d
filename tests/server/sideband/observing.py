"""What tests of observers need: one that gathers what it gets, and calls to listen to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import duet_client
from audio.recording import open_recording
from duet_client import Calls, Frame, Observer, wire
from tests.server.serving import WAIT_S, Running, Talker, talking, tone

T = TypeVar("T")


class Listener:
    """Gathers all that an observer gets. items: so far."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self.items: list[Any] = []

    async def until(self, kind: type[T]) -> T:
        """Reads up to the next of that kind."""
        async with asyncio.timeout(WAIT_S):
            async for item in self.observer:
                self.items.append(item)
                if isinstance(item, kind):
                    return item
        raise AssertionError(f"it ended before any {kind.__name__}")

    async def frame(self, index: int) -> None:
        """Reads up to that frame."""
        while (await self.until(Frame)).index < index:
            pass

    async def to_the_end(self) -> None:
        async with asyncio.timeout(WAIT_S):
            async for item in self.observer:
                self.items.append(item)

    def of(self, kind: type[T]) -> list[T]:
        return [item for item in self.items if isinstance(item, kind)]

    @property
    def numbers(self) -> list[int]:
        return [frame.index for frame in self.of(Frame)]

    @property
    def samples(self) -> npt.NDArray[np.float32]:
        """Both channels, float32 [n, 2]."""
        frames = self.of(Frame)
        return np.stack(
            [
                np.concatenate([frame.user for frame in frames]),
                np.concatenate([frame.agent for frame in frames]),
            ],
            axis=1,
        )


@asynccontextmanager
async def listening(here: Running, session_id: str, **options: Any) -> AsyncIterator[Listener]:
    async with duet_client.attach(here.http, session_id, **options) as observer:
        yield Listener(observer)


@asynccontextmanager
async def calling(here: Running, **session: Any) -> AsyncIterator[Talker]:
    async with talking(here.live) as client:
        await client.start(**session)
        yield client


async def say_frames(client: Talker, first: int, count: int) -> None:
    """Frame n of the user's has the level n + 1, so that no two frames of either channel are alike."""
    for number in range(first, first + count):
        await client.speak(tone(1, number + 1))


async def hear_frames(client: Talker, count: int) -> list[dict[str, Any]]:
    """Every event up to the audio of so many more frames."""
    events: list[dict[str, Any]] = []
    while sum(event["type"] == "session.output_audio.delta" for event in events) < count:
        events.append(await client.hear())
    return events


async def end(client: Talker) -> list[dict[str, Any]]:
    await client.say("session.close")
    return await client.hear_out()


async def recorded(here: Running, folder: Path, session_id: str) -> npt.NDArray[np.float32]:
    """Both channels of a finished recording, float32 [n, 2]."""
    async with asyncio.timeout(WAIT_S):
        while here.archive.is_writing(session_id):  # noqa: ASYNC110  nothing to be told by
            await asyncio.sleep(0.01)
    return open_recording(folder / f"{session_id}.json").samples


def word(text: str, start_ms: int, probability: float = 0.9) -> wire.Word:
    return wire.Word(text, start_ms, start_ms + 200, probability)


async def started(calls: Calls) -> wire.CallStarted:
    """What is told next: that a call started."""
    event = await anext(calls)
    assert isinstance(event, wire.CallStarted)
    return event


async def closed(calls: Calls) -> wire.CallClosed:
    """What is told next: that a call closed."""
    event = await anext(calls)
    assert isinstance(event, wire.CallClosed)
    return event
