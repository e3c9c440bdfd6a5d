"""N paced calls over the Moshi wire, which both servers speak: Ogg-Opus both ways.

Refuses to judge: it fills one CallLog a call.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

import websockets

from audio.frames import FRAME_MS, FRAME_SAMPLES, Samples
from audio.opus import OggOpusReader, OggOpusWriter
from duet_client.schedule import Schedule
from duet_client.stats import CallLog
from evals.bench.subjects import Subject

AUDIO = b"\x01"
LAST_ANSWERS_S = 2.0


async def run_calls(subject: Subject, calls: int, seconds: float, frames: list[Samples]) -> list[MoshiCall]:
    """All calls at once, phases spread evenly over the 80 ms; a call that waits in line keeps talking."""
    plan = [MoshiCall(subject, n / calls, int(seconds * 1000 / FRAME_MS), frames) for n in range(calls)]
    async with asyncio.TaskGroup() as group:
        for call in plan:
            group.create_task(call.run())
    return plan


@dataclass(slots=True)
class MoshiCall:
    """One caller. `log` counts in samples."""

    subject: Subject
    phase: float
    n_frames: int
    frames: list[Samples]
    log: CallLog = field(default_factory=lambda: CallLog(FRAME_SAMPLES))
    error: str = ""
    _answered: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def served(self) -> bool:
        """Most of what it said was answered. One that waits in line until others hang up is not served."""
        return 2 * len(self.log.received_s) >= self.n_frames

    async def run(self) -> None:
        url = f"ws://localhost:{self.subject.port}/api/chat"
        try:
            async with websockets.connect(
                url, compression=None, ping_interval=None, close_timeout=1
            ) as socket:
                reading = asyncio.create_task(self._read(socket))
                try:
                    await self._speak(socket)
                    if self.served and self.log.deficit:
                        await asyncio.wait_for(self._answered.wait(), LAST_ANSWERS_S)
                finally:
                    reading.cancel()
                    await asyncio.gather(reading, return_exceptions=True)
        except TimeoutError:
            pass  # what never came is the log's deficit
        except (OSError, websockets.WebSocketException) as error:
            self.error = str(error)

    async def _speak(self, socket: websockets.ClientConnection) -> None:
        writer = OggOpusWriter()
        schedule = Schedule.on_grid(time.monotonic(), self.phase)
        for n in range(self.n_frames):
            data = AUDIO + writer.push(self.frames[n % len(self.frames)])
            await asyncio.sleep(schedule.wait_s(n, time.monotonic()))
            if n >= self.subject.unanswered_frames:
                self.log.sent(time.monotonic(), schedule.due_s(n))
            await socket.send(data)

    async def _read(self, socket: websockets.ClientConnection) -> None:
        reader = OggOpusReader()
        async for message in socket:
            now = time.monotonic()
            if isinstance(message, bytes) and message[:1] == AUDIO:
                self.log.received(len(reader.push(message[1:])), now)
                if len(self.log.received_s) >= self.n_frames - self.subject.unanswered_frames:
                    self._answered.set()
