"""A real server and the process beside it: a small program in the sidecar's place, killed and stopped."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import psutil

from duet_client.session import connect
from tests.e2e.running_server import RunningServer, running_server

WAIT_S = 60

OBSERVES = """
import argparse, asyncio, os
import duet_client

async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server")
    parser.add_argument("--model")
    options = parser.parse_args()
    key = os.environ["DUET_API_KEY"]
    async with duet_client.observe(options.server, key=key) as calls:
        print("observing with", options.model, "DUET_API_KEYS" in os.environ, flush=True)
        async for event in calls:
            print(type(event).__name__, flush=True)

asyncio.run(main())
"""


def in_its_place(folder: Path, program: str) -> Path:
    package = folder / "modules" / "transcribe_sidecar"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(program)
    return package.parent


def sidecar_of(server: RunningServer) -> Any:
    return json.loads(server.get("/health"))["sidecar"]


def said(server: RunningServer, line: str) -> int:
    return server.log().count(f"sidecar: {line}")


def test_a_killed_sidecar_comes_back_and_a_stopped_server_leaves_none(
    tmp_path: Path, tiny_model: Path
) -> None:
    async def scene(server: RunningServer) -> int:
        assert await server.until(lambda: said(server, "observing with auto False") == 1, WAIT_S)
        first = sidecar_of(server)
        assert (first["state"], first["restarts"]) == ("running", 0)
        psutil.Process(first["pid"]).send_signal(signal.SIGKILL)
        assert await server.until(lambda: said(server, "observing with auto False") == 2, WAIT_S)
        second = sidecar_of(server)
        assert (second["restarts"], second["last_end"]) == (1, "killed by SIGKILL")
        assert (server.metric("duet_sidecar_up"), server.metric("duet_sidecar_restarts_total")) == (1, 1)
        async with connect(server.url):
            assert await server.until(lambda: said(server, "CallStarted") == 1, WAIT_S)
        return int(second["pid"])

    arguments = ("--capacity", "1", "--sidecar", "managed", "--drain-s", "0")
    modules = in_its_place(tmp_path, OBSERVES)
    with running_server(tiny_model, tmp_path, *arguments, modules=modules) as server:
        pid = asyncio.run(scene(server))
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(WAIT_S) == 0
        assert not psutil.pid_exists(pid)
    assert "Traceback" not in server.log()
