"""The managed sidecar: started, watched, restarted and stopped, a process beside the server and below it.

It is a client like any other, comes in by a door of its own (`server.door`) and may die at any time; nothing
here waits for it. Its output goes to the log line by line. Refuses to know what it transcribes.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from aiohttp import web

from server.door import Door
from server.keys import VARIABLE as KEYS_VARIABLE
from server.observation_metrics import ObservationMetrics
from server.sidecar_watch import PATIENCE, Backoff, Patience, Watch

HOPELESS: dict[int, Literal["refused", "no_model"]] = {2: "refused", 3: "no_model"}
"""Exit codes of a sidecar that to start again would help nobody: it is set up wrongly, or found no model."""
LONGEST_LINE = 2_000
"""Bytes of one line of its output that reach the log."""
KEY_VARIABLE = "DUET_API_KEY"
LAUNCHER = Path(__file__).with_name("sidecar_child.py")

Mode = Literal["managed", "external", "off"]

log = logging.getLogger("duet.sidecar")


@dataclass(slots=True)
class SidecarState:
    """What the health page shows. state: None where the process is not ours."""

    mode: Mode
    state: Literal["starting", "running", "waiting", "refused", "no_model", "stopped"] | None = None
    pid: int | None = None
    restarts: int = 0
    last_end: str | None = None

    def describe(self) -> dict[str, Any]:
        if self.mode != "managed":
            return {"mode": self.mode}
        return {
            "mode": self.mode,
            "state": self.state,
            "pid": self.pid,
            "restarts": self.restarts,
            "last_end": self.last_end,
        }


SIDECAR = web.AppKey("sidecar", SidecarState)


@dataclass(frozen=True, slots=True)
class Progress:
    """signs: how often a transcriber gave a sign of life. frames: answered so far, of all calls."""

    signs: int
    frames: int


@dataclass(frozen=True, slots=True)
class Launch:
    """What is run. environment: the whole of it, for the process."""

    command: Sequence[str]
    environment: Mapping[str, str]


class Sidecar:
    """Keeps one running. on_hopeless: called when there will be none."""

    def __init__(
        self,
        launch: Launch,
        progress: Callable[[], Progress],
        state: SidecarState,
        metrics: ObservationMetrics,
        *,
        on_hopeless: Callable[[], None],
        patience: Patience = PATIENCE,
    ) -> None:
        launcher = [sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid())]
        self._command = [*launcher, *launch.command]
        self._environment = launch.environment
        self._progress = progress
        self._state = state
        self._metrics = metrics
        self._on_hopeless = on_hopeless
        self._patience = patience
        self._last_line = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Starts it; on the way out it is stopped, and gone."""
        keeping = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            self._state.state = "stopped"

    async def _keep(self) -> None:
        backoff = Backoff(self._patience)
        while True:
            started = time.monotonic()
            code = await self._run()
            if state := HOPELESS.get(code):
                self._state.state, self._state.last_end = state, _ended(code)
                self._on_hopeless()
                log.warning("calls go on without transcripts: %s", self._last_line or _ended(code))
                return
            wait = backoff.after(time.monotonic() - started)
            self._state.state, self._state.last_end = "waiting", _ended(code)
            log.warning("the sidecar ended: %s; it starts again in %g s", _ended(code), wait)
            await asyncio.sleep(wait)
            self._state.restarts += 1
            self._metrics.sidecar_restarted()

    async def _run(self) -> int:
        """One process, from its start to its end; its exit code, negative for a signal."""
        self._state.state = "starting"
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=STDOUT,
                env=dict(self._environment),
                # A group of its own: a Ctrl-C is the server's. No session of its own: Linux weighs niceness
                # within a session only (sched_autogroup), and a new one would get as much as the server.
                process_group=0,
            )
        except OSError as error:  # there is no memory, or no handle left; that may pass
            log.error("the sidecar cannot be started: %s", error)
            return 1
        self._state.state, self._state.pid = "running", process.pid
        self._metrics.sidecar_up(True)
        helpers = [asyncio.create_task(part(process)) for part in (self._listen, self._watch)]
        try:
            return await process.wait()
        finally:
            await _stop(process, self._patience.stop)
            self._metrics.sidecar_up(False)
            self._state.pid = None
            await asyncio.wait(helpers[:1], timeout=self._patience.stop)  # what it still had to say
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)

    async def _watch(self, process: Process) -> None:
        now = self._progress()
        watch = Watch(self._patience, time.monotonic(), now.signs, now.frames)
        while True:
            await asyncio.sleep(self._patience.check)
            now = self._progress()
            if watch.is_hung(time.monotonic(), now.signs, now.frames):
                log.warning("the sidecar gives no sign of life while calls go on: it is killed")
                _signal(process, signal.SIGKILL)
                return

    async def _listen(self, process: Process) -> None:
        assert process.stdout is not None
        line = b""
        while data := await process.stdout.read(1 << 16):
            *whole, line = (line + data).split(b"\n")
            for each in whole:
                self._say(each)
            line = line[: LONGEST_LINE + 1]
        self._say(line)

    def _say(self, line: bytes) -> None:
        text = line[:LONGEST_LINE].decode(errors="replace").strip()
        if text:
            self._last_line = text
            log.info("sidecar: %s", text)


def launch_of(door: Door, model: str, own: Mapping[str, str]) -> Launch:
    """The sidecar that comes with Duet. model: as in ServerConfig. own: the server's environment, whose
    keys it does not see; it has its own."""
    command = [sys.executable, "-m", "transcribe_sidecar", "--server", door.url, "--model", model]
    kept = {name: value for name, value in own.items() if name != KEYS_VARIABLE}
    return Launch(command, kept | {KEY_VARIABLE: door.key, "PYTHONUNBUFFERED": "1"})


async def _stop(process: Process, timeout_s: float) -> None:
    """Asks first. A task that is cancelled meanwhile leaves no process either."""
    try:
        if process.returncode is None:
            _signal(process, signal.SIGTERM)
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await process.wait()
    finally:
        if process.returncode is None:
            _signal(process, signal.SIGKILL)
            await process.wait()


def _signal(process: Process, number: signal.Signals) -> None:
    """To everything it started too: the process leads a group of its own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _ended(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
