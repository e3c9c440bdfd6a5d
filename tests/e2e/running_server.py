"""A real `python -m server` in its own process, on a small random checkpoint."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from audio.frames import FRAME_SAMPLES
from duet_client.session import Session, connect
from duet_client.wire import DuetOptions, OutputAudioDelta

ROOT = Path(__file__).resolve().parents[2]
READY_S = 120
GREEDY = DuetOptions(text_temperature=0.0, audio_temperature=0.0, seed=1)
Pcm = npt.NDArray[np.int16]


@dataclass(slots=True)
class RunningServer:
    """url: http base address. recordings: the folder it records into."""

    process: subprocess.Popen[str]
    url: str
    recordings: Path
    log_file: Path

    def log(self) -> str:
        """Everything it wrote to its log so far."""
        return self.log_file.read_text()

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=60) as response:
            return str(response.read().decode())

    def metric(self, name: str) -> float:
        """The value of one metric without labels, or with the labels given in the name."""
        for line in self.get("/metrics").splitlines():
            if line.startswith(f"{name} "):
                return float(line.split()[1])
        raise KeyError(name)

    async def until(self, reached: Callable[[], bool], within_s: float) -> bool:
        """Whether the condition came true in time."""
        try:
            async with asyncio.timeout(within_s):
                while not await asyncio.to_thread(reached):  # noqa: ASYNC110  nothing to be told by
                    await asyncio.sleep(0.05)
        except TimeoutError:
            return False
        return True


@contextmanager
def running_server(
    model: Path, folder: Path, *arguments: str, modules: Path | None = None
) -> Iterator[RunningServer]:
    """Starts one on a free port and waits for the line that says it is ready. Without a sidecar, unless the
    arguments say otherwise. modules: a folder whose modules come before ours."""
    recordings = folder / "recordings"
    command = [sys.executable, "-m", "server", "--model", str(model), "--port", "0"]
    command += ["--recordings", str(recordings), "--sidecar", "off", *arguments]
    log_file = folder / "server.log"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    if modules is not None:
        environment |= {"PYTHONPATH": os.pathsep.join(map(str, [ROOT, ROOT / "client"]))}
    with log_file.open("w") as log:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment, cwd=modules
        )
        try:
            yield RunningServer(process, _url(process, log_file), recordings, log_file)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _url(process: subprocess.Popen[str], log_file: Path) -> str:
    """The first word of its output that is an address; kills a server that takes too long."""
    timer = threading.Timer(READY_S, process.kill)
    timer.start()
    assert process.stdout is not None
    try:
        for line in process.stdout:
            for word in line.split():
                if word.startswith(("http://", "https://")):
                    return word.rstrip("/.,")
    finally:
        timer.cancel()
    raise RuntimeError(f"the server did not start:\n{log_file.read_text()[-3000:]}")


@dataclass(slots=True)
class Played:
    """What one call heard. received: s16 samples."""

    session: dict[str, Any]
    received: Pcm
    frames_sent: int
    events: list[Any] = field(default_factory=list)


async def play(url: str, audio: Pcm, *, paced: bool = False, **start: Any) -> Played:
    """One call that says `audio`, whole frames, and listens to the end."""
    frames = audio[: len(audio) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)
    heard: list[bytes] = []
    events: list[Any] = []
    async with connect(url, sampling=start.pop("sampling", GREEDY), open_timeout_s=60, **start) as session:
        speaking = asyncio.create_task(_speak(session, frames, paced))
        async for event in session:
            if isinstance(event, OutputAudioDelta):
                heard.append(event.audio)
            else:
                events.append(event)
        await speaking
        return Played(session.started.session, np.frombuffer(b"".join(heard), "<i2"), len(frames), events)


async def _speak(session: Session, frames: Pcm, paced: bool) -> None:
    start = asyncio.get_running_loop().time()
    for n, frame in enumerate(frames):
        if paced:
            await asyncio.sleep(max(0.0, start + n * 0.08 - asyncio.get_running_loop().time()))
        await session.send_audio(frame)
    await session.close()


def babble(seed: int, seconds: float) -> Pcm:
    """s16 noise in bursts, different for every seed."""
    n = int(seconds * 24000)
    rng = np.random.default_rng(seed)
    loudness = 0.02 + 0.2 * (np.sin(np.arange(n) / 24000 * 9 + seed) > 0)
    noise: Pcm = (rng.standard_normal(n) * loudness * 8000).clip(-32768, 32767).astype(np.int16)
    return noise
