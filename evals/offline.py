"""A server of our own, for as long as it is needed: `python -m server`, with the input as its clock.

Comes in by the front door like any other client: it knows the command line and the address, no more.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from duet_client.errors import CommandError

READY_S = 600.0
"""Loading a large checkpoint takes minutes."""

_STOP_S = 20.0


@contextmanager
def own_server(model: str, capacity: int) -> Iterator[str]:
    """Starts a server on a free port with `--pace free` and yields its address; stops it at the end.

    It records nothing, and its sessions are bound to nobody's wall clock.

    Raises:
        CommandError: it did not start; says the last line it wrote.
    """
    with tempfile.TemporaryDirectory() as scratch, (Path(scratch) / "log").open("w+") as log:
        process = subprocess.Popen(
            _command(model, capacity, Path(scratch)), stdout=subprocess.PIPE, stderr=log, text=True
        )
        assert process.stdout is not None
        try:
            yield _address(process, process.stdout, log)
        finally:
            _stop(process)
            process.stdout.close()


def _command(model: str, capacity: int, scratch: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "server", "--model", model, "--port", "0", "--pace", "free"),
        *("--capacity", str(capacity), "--keep", "off", "--sidecar", "off"),
        *("--recordings", str(scratch / "recordings")),
    ]


def _address(process: subprocess.Popen[str], output: IO[str], log: IO[str]) -> str:
    """The first address the server prints, which it does when it is ready."""
    too_long = threading.Timer(READY_S, process.kill)
    too_long.start()
    try:
        for line in output:
            for word in line.split():
                if word.startswith(("http://", "https://")):
                    return word.rstrip("/.,")
    finally:
        too_long.cancel()
    process.wait()
    log.flush()
    log.seek(0)
    said = [line.strip() for line in log if line.strip()] or ["it said nothing"]
    raise CommandError(f"the server for --offline did not start: {said[-1]}")


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
