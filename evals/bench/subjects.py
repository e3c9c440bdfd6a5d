"""The servers under test, as child processes on free ports of this machine.

Refuses to know what is measured on them.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

START_S = 300.0
"""moshi.server compiles some of itself before it listens."""
A, B, C = "A moshi.server", "B duet, reference", "C duet, compact"


@dataclass(frozen=True, slots=True)
class Subject:
    """A running server: its name in the table, its port, and how many frames its first answer lags.

    moshi.server answers nothing to a call's first frame, ours answers silence.
    """

    name: str
    port: int
    unanswered_frames: int
    process: int

    @property
    def memory_mb(self) -> float:
        """What the process holds now, of what it has touched; 0 where the system does not tell."""
        try:
            pages = int(Path(f"/proc/{self.process}/statm").read_text().split()[1])
        except OSError:
            return 0.0
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def published(folder: Path) -> Iterator[Subject]:
    """A: moshi.server as published."""
    port = free_port()
    with _running(A, ["evals.bench.moshi_published", str(folder), str(port)], port) as process:
        yield Subject(A, port, unanswered_frames=1, process=process)


@contextmanager
def ours(name: str, runtime: str, folder: Path, capacity: int) -> Iterator[Subject]:
    """B and C: this server with one of its runtimes, and room for just as many calls as will come."""
    port = free_port()
    arguments = ["server", "--model", str(folder), "--port", str(port), "--capacity", str(capacity)]
    arguments += ["--runtime", runtime, "--admit", "capacity", "--keep", "off", "--sidecar", "off"]
    with _running(name, arguments, port) as process:
        yield Subject(name, port, unanswered_frames=0, process=process)


def write_checkpoint(folder: Path) -> None:
    """The default (untrained) checkpoint, which both servers load."""
    subprocess.run([sys.executable, "-m", "model.untrained", str(folder)], check=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _running(name: str, module: list[str], port: int) -> Iterator[int]:
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([sys.executable, "-m", *module], stdout=log, stderr=log)
        try:
            _wait_until_listening(name, process, port, log.fileno())
            yield process.pid
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_listening(name: str, process: subprocess.Popen[bytes], port: int, log: int) -> None:
    ends = time.monotonic() + START_S
    while time.monotonic() < ends:
        if process.poll() is not None:
            break
        with socket.socket() as probe:
            if probe.connect_ex(("localhost", port)) == 0:
                return
        time.sleep(0.1)
    tail = Path(f"/proc/self/fd/{log}").read_bytes()[-2000:].decode(errors="replace")
    raise RuntimeError(f"{name} did not start:\n{tail}")
