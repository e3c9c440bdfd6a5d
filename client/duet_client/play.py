"""Plays a recording to a server and keeps both sides: a two-channel WAV, and a transcript beside it.

Refuses to know file formats on the way in; it takes samples.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from duet_client import wire
from duet_client.duplex import duplex, not_stalled
from duet_client.errors import CommandError, DuetError
from duet_client.media import RATE, TwoChannelWav
from duet_client.pcm import Pcm16
from duet_client.schedule import Schedule
from duet_client.session import Session, connect
from duet_client.transcript import Transcript

FRAME_SAMPLES = RATE * wire.FRAME_MS // 1000
WINDOW_FRAMES = 25  # sent and not yet answered, when not paced: as much as a server takes in at once
STALL_S = 30.0  # a server that is silent for so long is given up

_FRAME_BYTES = wire.AudioFormat.DEFAULT.frame_bytes

Turn = Callable[[int], Awaitable[None]]  # returns when frame n may be sent


@dataclass(frozen=True, slots=True)
class Played:
    """What a run left behind.

    missing_s: seconds of audio that only one of the channels has. session: as the server resolved it.
    """

    recording: Path
    transcript: Path
    seconds: float
    missing_s: float
    error: str | None
    session: dict[str, Any]


@dataclass(slots=True)
class _Play:
    """One run. `answered` counts the room in the window, one permit a frame."""

    frames: list[bytes]
    wav: TwoChannelWav
    transcript: Transcript
    on_progress: Callable[[float], None]
    on_info: Callable[[wire.Info], None]
    answered: asyncio.Semaphore

    async def send(self, session: Session, turn: Turn) -> None:
        for n, frame in enumerate(self.frames):
            await turn(n)
            self.wav.add_user(frame)
            await session.send_audio(frame)
        await session.close()

    async def receive(self, session: Session) -> None:
        self.transcript.add(session.started)
        got = 0
        async for event in not_stalled(session, STALL_S):
            self.transcript.add(event)
            if isinstance(event, wire.OutputAudioDelta):
                before, got = got, got + len(event.audio)
                self.wav.add_agent(event.audio)
                for _ in range(got // _FRAME_BYTES - before // _FRAME_BYTES):
                    self.answered.release()
                self.on_progress(self.wav.samples / RATE)
            elif isinstance(event, wire.Info):
                self.on_info(event)


async def play(
    server: str,
    pcm: Pcm16,
    output: Path,
    *,
    fast: bool = False,
    store: bool = False,
    sampling: wire.DuetOptions | None = None,
    api_key: str | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
    on_info: Callable[[wire.Info], None] = lambda _: None,
    on_kept: Callable[[Played], None] = lambda _: None,
) -> Played:
    """Play `pcm` (24 kHz mono) and write `output` and its JSON; what there is is kept on any error.

    fast: send as soon as the server has answered enough, instead of in real time.
    store: ask the server to keep a recording of its own.
    on_progress: called with the seconds that are recorded so far.
    on_info: called with what the server remarks on.
    on_kept: called with what was written, also where the run is cancelled and so returns nothing.

    Raises:
        ConnectError: no session. CommandError: `output` cannot be written.
    """
    async with connect(server, store=store, sampling=sampling, api_key=api_key) as session:
        window = asyncio.Semaphore(WINDOW_FRAMES)
        run = _Play(_frames(pcm), _open(output), Transcript(), on_progress, on_info, window)
        error: str | None = "interrupted"
        try:
            said_all = await duplex(run.send(session, _turn(run, fast)), run.receive(session))
            error = None if said_all else f"the server closed the session early ({run.transcript.reason})"
        except DuetError as failure:
            error = str(failure)
        finally:
            played = _finish(run, output, error)
            on_kept(played)
    return played


def _turn(run: _Play, fast: bool) -> Turn:
    """When a frame may go: by the clock, or by the window of unanswered frames."""
    schedule = Schedule(time.monotonic())

    async def by_clock(frame: int) -> None:
        await asyncio.sleep(schedule.wait_s(frame, time.monotonic()))

    async def by_window(_: int) -> None:
        await run.answered.acquire()

    return by_window if fast else by_clock


def _frames(pcm: Pcm16) -> list[bytes]:
    """Whole frames, the last one filled with zeros."""
    padded = np.concatenate([pcm, np.zeros(-len(pcm) % FRAME_SAMPLES, np.int16)])
    return [frame.astype("<i2").tobytes() for frame in padded.reshape(-1, FRAME_SAMPLES)]


def _open(output: Path) -> TwoChannelWav:
    try:
        return TwoChannelWav(output)
    except OSError as error:
        raise CommandError(f"cannot write {output}: {error.strerror or error}") from None


def _finish(run: _Play, output: Path, error: str | None) -> Played:
    beside = output.with_suffix(".json")
    try:
        missing = run.wav.finish()
        seconds = run.wav.samples / RATE
        facts = {"recording": output.name, "duration_s": seconds, "missing_samples": missing, "error": error}
        beside.write_text(
            json.dumps(run.transcript.to_json(**facts), indent=2, ensure_ascii=False) + "\n", "utf-8"
        )
    except OSError as failure:
        raise CommandError(f"cannot write {output}: {failure.strerror or failure}") from None
    return Played(output, beside, seconds, missing / RATE, error, run.transcript.session)
