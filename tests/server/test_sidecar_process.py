"""The managed sidecar as real processes: restarted when killed, gone with its server, never in the way."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from prometheus_client import CollectorRegistry

from server.door import open_door
from server.observation_metrics import ObservationMetrics
from server.sidecar_process import Launch, Progress, Sidecar, SidecarState, launch_of
from server.sidecar_watch import Patience

WAIT_S = 60
ROOT = Path(__file__).resolve().parents[2]
QUICK = Patience(hung=0.5, loading=0.5, check=0.05, shortest=0.05, longest=0.1, stop=1)
LIVES = "import time; print('here', flush=True); time.sleep(600)"


class Kept:
    """A sidecar that is kept running. calls: whether frames are answered, of which it gives no sign."""

    def __init__(self, program: str, patience: Patience = QUICK) -> None:
        self.state = SidecarState("managed")
        self.registry = CollectorRegistry()
        self.calls = False
        self.gave_up = asyncio.Event()
        self._frames = 0
        self._program = ["-c", program]
        launch = Launch([sys.executable, *self._program], os.environ)
        self.sidecar = Sidecar(
            launch,
            self._progress,
            self.state,
            ObservationMetrics(self.registry),
            on_hopeless=self.gave_up.set,
            patience=patience,
        )

    def _progress(self) -> Progress:
        self._frames += self.calls
        return Progress(0, self._frames)

    async def until(self, reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_S):
            while not reached():  # noqa: ASYNC110  nothing to be told by
                await asyncio.sleep(0.01)

    async def process(self) -> psutil.Process:
        """The one that runs, once it is the program and not its launcher any more."""
        await self.until(lambda: self.state.pid is not None)
        assert self.state.pid is not None
        process = psutil.Process(self.state.pid)
        await self.until(lambda: process.cmdline()[1:] == self._program)
        return process

    def metric(self, name: str) -> float | None:
        return self.registry.get_sample_value(name)


def keep(scene: Callable[[Kept], Awaitable[None]], program: str = LIVES) -> Kept:
    async def run() -> Kept:
        kept = Kept(program)
        async with kept.sidecar.running():
            await scene(kept)
        return kept

    return asyncio.run(run())


def is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_one_that_is_killed_is_started_again_and_counted() -> None:
    async def scene(kept: Kept) -> None:
        first = await kept.process()
        first.send_signal(signal.SIGKILL)
        await kept.until(lambda: kept.state.restarts == 1)
        second = await kept.process()
        assert second.pid != first.pid
        assert kept.state.last_end == "killed by SIGKILL"
        assert (kept.metric("duet_sidecar_up"), kept.metric("duet_sidecar_restarts_total")) == (1, 1)

    keep(scene)


def test_when_the_server_stops_no_process_is_left_even_one_that_will_not_end() -> None:
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True)\n"
    pids: list[int] = []

    async def scene(kept: Kept) -> None:
        pids.append((await kept.process()).pid)

    for program in (LIVES, stubborn + "time.sleep(600)"):
        kept = keep(scene, program)
        assert (kept.state.state, kept.state.pid, kept.metric("duet_sidecar_up")) == ("stopped", None, 0)
    assert all(is_gone(pid) for pid in pids)


def test_one_that_is_asked_to_stop_may_clean_up_first(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    program = (
        "import signal, sys, time, pathlib\n"
        f"def end(*_): pathlib.Path({str(mark)!r}).write_text('done'); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)"
    )

    async def scene(kept: Kept) -> None:
        await kept.until(lambda: kept.sidecar._last_line == "ready")

    keep(scene, program)
    assert mark.read_text() == "done"


@pytest.mark.parametrize(("code", "state"), [(3, "no_model"), (2, "refused")])
def test_one_that_finds_no_model_or_is_set_up_wrongly_is_told_in_one_line_and_not_started_again(
    caplog: pytest.LogCaptureFixture, code: int, state: str
) -> None:
    async def scene(kept: Kept) -> None:
        await kept.gave_up.wait()
        assert kept.state.state == state
        await asyncio.sleep(5 * QUICK.longest)  # it would be there again by then
        assert kept.state.restarts == 0

    keep(scene, f"import sys; print('no Whisper model here', file=sys.stderr); sys.exit({code})")
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warnings == ["calls go on without transcripts: no Whisper model here"]


def test_one_that_gives_no_sign_while_calls_go_on_is_killed_and_started_again() -> None:
    async def scene(kept: Kept) -> None:
        first = await kept.process()
        first.suspend()
        kept.calls = True
        await kept.until(lambda: kept.state.restarts >= 1)
        assert is_gone(first.pid)
        assert kept.state.last_end == "killed by SIGKILL"

    keep(scene)


def test_its_output_is_in_the_log_line_by_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "duet.sidecar")
    program = "print('one\\ntwo\\n' + 'x' * 100_000, flush=True)\nimport time; time.sleep(600)"

    async def scene(kept: Kept) -> None:
        await kept.until(lambda: "two" in caplog.text)

    keep(scene, program)
    said = [record.getMessage() for record in caplog.records if record.getMessage().startswith("sidecar: ")]
    assert said == ["sidecar: one", "sidecar: two", "sidecar: " + "x" * 2_000]


def test_it_gives_way_to_the_server_and_is_not_reached_by_its_ctrl_c() -> None:
    async def scene(kept: Kept) -> None:
        process = await kept.process()
        assert process.nice() == 19
        assert os.getpgid(process.pid) == process.pid
        assert os.getsid(process.pid) == os.getsid(0)  # where it weighs less than the server
        killed_first = await asyncio.to_thread(Path(f"/proc/{process.pid}/oom_score_adj").read_text)
        assert int(killed_first) == 500

    keep(scene)


SERVER = f"""
import asyncio, sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "client")!r}]
from tests.server.test_sidecar_process import Kept, LIVES

async def main():
    kept = Kept(LIVES)
    async with kept.sidecar.running():
        print((await kept.process()).pid, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def test_a_server_that_is_killed_takes_its_sidecar_along() -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        pid = int(server.stdout.readline())
        process = psutil.Process(pid)
        server.send_signal(signal.SIGKILL)
        process.wait(WAIT_S)
    assert is_gone(pid)


def test_it_has_a_key_of_its_own_and_sees_none_of_the_servers() -> None:
    with open_door() as door:
        launch = launch_of(door, "tiny.en", {"DUET_API_KEYS": "hush", "HOME": "/home"})
    assert launch.environment["DUET_API_KEY"] == door.key
    assert "DUET_API_KEYS" not in launch.environment
    assert launch.environment["HOME"] == "/home"
    assert launch.command[1:] == ["-m", "transcribe_sidecar", "--server", door.url, "--model", "tiny.en"]
    assert door.key not in " ".join(launch.command)


def test_one_that_the_system_cannot_start_now_is_started_later(monkeypatch: pytest.MonkeyPatch) -> None:
    start, tries = asyncio.create_subprocess_exec, iter([OSError(errno.EAGAIN, "no process left")])

    async def create(*command: Any, **options: Any) -> Any:
        if (problem := next(tries, None)) is not None:
            raise problem
        return await start(*command, **options)

    async def scene(kept: Kept) -> None:
        await kept.process()
        assert not kept.gave_up.is_set()

    monkeypatch.setattr(asyncio, "create_subprocess_exec", create)
    keep(scene)
