"""Load: N paced calls at once, and what their latency was.

A report is valid only where the load itself was: every call went through and every frame left in time.
Refuses to judge whether a latency is good.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

import numpy as np

from duet_client.duplex import duplex
from duet_client.errors import DuetError
from duet_client.pcm import Pcm16, to_pcm16
from duet_client.schedule import Schedule
from duet_client.session import Session, connect
from duet_client.stats import CallLog, Summary, summarise
from duet_client.wire import AudioFormat, Error, OutputAudioDelta

FORMAT = AudioFormat.DEFAULT
_FRAME_SAMPLES = FORMAT.frame_bytes // FORMAT.bytes_per_sample


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """What to run. seconds: measured time, with all calls open; opening them comes on top.

    late_max_ms: the load generator's own p99 lateness beyond which its numbers mean nothing.
    finish_s: how long a call may take to be answered completely after its last frame.
    """

    calls: int = 4
    seconds: float = 30.0
    late_max_ms: float = 10.0
    finish_s: float = 15.0

    def __post_init__(self) -> None:
        if self.calls < 1:
            raise ValueError(f"calls must be 1 or more, not {self.calls}")
        if not 1.0 <= self.seconds < float("inf"):
            raise ValueError(f"seconds must be 1 or more, not {self.seconds:g}")


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What came of it; `problems` says why the numbers are not to be used, and is empty where they are."""

    plan: BenchPlan
    model: str
    summary: Summary
    problems: tuple[str, ...]

    @property
    def valid(self) -> bool:
        return not self.problems


@dataclass(slots=True)
class _Round:
    """What the calls of a run share: it is measured from when the last one is open."""

    server: str
    plan: BenchPlan
    frames: list[bytes]
    api_key: str | None
    model: str = ""
    open_calls: int = 0
    measured_from: float = float("inf")
    ends_at: float = float("inf")
    failures: list[str] = field(default_factory=list)

    def opened(self, model: str, now: float) -> None:
        self.model = model
        self.open_calls += 1
        if self.open_calls == self.plan.calls:
            self.measured_from = now
            self.ends_at = now + self.plan.seconds

    def failed(self, call: int, error: Exception) -> None:
        self.failures.append(f"call {call}: {error}")

    def over(self, now: float) -> bool:
        """One failed call ends the round for all: its numbers could not be used."""
        return now >= self.ends_at or bool(self.failures)


def run_bench(
    server: str,
    plan: BenchPlan = BenchPlan(),
    *,
    audio: Pcm16 | None = None,
    api_key: str | None = None,
) -> BenchResult:
    """Run `plan` against `server` and report; blocks for about `plan.seconds`.

    audio: what every call says, 24 kHz mono, repeated to its end; None makes a babble of its own.
    """
    return asyncio.run(measure(server, plan, audio=audio, api_key=api_key))


async def measure(
    server: str, plan: BenchPlan, *, audio: Pcm16 | None = None, api_key: str | None = None
) -> BenchResult:
    """`run_bench` for those who already have an event loop; whatever else runs on it makes it late."""
    round_ = _Round(server, plan, _frames(babble() if audio is None else audio), api_key)
    logs = [CallLog(FORMAT.frame_bytes) for _ in range(plan.calls)]
    async with asyncio.TaskGroup() as calls:
        for number, log in enumerate(logs):
            calls.create_task(_call(round_, number, log))
    summary = summarise(logs, round_.measured_from)
    return BenchResult(plan, round_.model, summary, tuple(_problems(round_, summary)))


def babble(seconds: float = 4.0, seed: int = 0) -> Pcm16:
    """Noise in bursts of syllable length with pauses, so that a call is neither silent nor loud."""
    n = int(seconds * FORMAT.rate)
    time_s = np.arange(n) / FORMAT.rate
    syllables = np.maximum(0.0, np.sin(2 * np.pi * 4.0 * time_s))
    talking = np.sin(2 * np.pi * 0.5 * time_s) > 0
    noise = np.random.default_rng(seed).normal(0.0, 0.1, n)
    return to_pcm16(noise * syllables * talking)


async def _call(round_: _Round, number: int, log: CallLog) -> None:
    try:
        async with connect(round_.server, audio_format=FORMAT, api_key=round_.api_key) as session:
            round_.opened(str(session.started.session.get("model", "")), time.monotonic())
            await duplex(_speak(session, round_, number, log), _read(session, log))
    except DuetError as error:
        round_.failed(number, error)


async def _speak(session: Session, round_: _Round, number: int, log: CallLog) -> None:
    """Send frame by frame until the round is over; the calls' frames are spread evenly over the 80 ms."""
    schedule = Schedule.on_grid(time.monotonic(), number / round_.plan.calls)
    frame = 0
    while not round_.over(time.monotonic()):
        await asyncio.sleep(schedule.wait_s(frame, time.monotonic()))
        log.sent(time.monotonic(), schedule.due_s(frame))
        await session.send_audio(round_.frames[frame % len(round_.frames)])
        frame += 1
    await session.close()
    await asyncio.sleep(round_.plan.finish_s)  # ended by whoever reads session.closed
    raise DuetError(f"no session.closed within {round_.plan.finish_s:g} s")


async def _read(session: Session, log: CallLog) -> None:
    async for event in session:
        if isinstance(event, OutputAudioDelta):
            log.received(len(event.audio), time.monotonic())
        elif isinstance(event, Error):
            raise DuetError(f"{event.code}: {event.message}")


def _frames(audio: Pcm16) -> list[bytes]:
    if len(audio) < _FRAME_SAMPLES:
        raise ValueError(f"audio must hold at least one frame of {_FRAME_SAMPLES} samples, not {len(audio)}")
    whole = len(audio) // _FRAME_SAMPLES * _FRAME_SAMPLES
    data = audio[:whole].astype("<i2").tobytes()
    return [data[at : at + FORMAT.frame_bytes] for at in range(0, len(data), FORMAT.frame_bytes)]


def _problems(round_: _Round, summary: Summary) -> list[str]:
    found = list(round_.failures)
    late, limit = summary.send_late_ms.p99, round_.plan.late_max_ms
    if late > limit:
        found.append(f"the load generator was late: send lateness p99 {late:.1f} ms is over {limit:g} ms")
    if summary.surplus:
        found.append(f"{summary.surplus} frames came back that were never sent, so none can be matched")
    if not found and summary.latency_ms.count == 0:
        found.append("no frame was answered")
    return found
