"""The command line as a person uses it: real processes and a real server."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import duet_client
from duet_client.bench import BenchPlan, BenchResult
from duet_client.commandline import report
from duet_client.stats import CallLog, summarise
from tests.client.echo_server import EchoServer, Trouble

CLIENT = Path(duet_client.__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Ran:
    code: int | None
    out: str
    err: str


async def duet(*arguments: str | Path, env: dict[str, str] | None = None) -> Ran:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "duet_client", *map(str, arguments)),
        env=os.environ | {"PYTHONPATH": str(CLIENT)} | (env or {}),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return Ran(process.returncode, out.decode(), err.decode())


def against(
    command: Callable[[str], tuple[str | Path, ...]], server: EchoServer, env: dict[str, str] | None = None
) -> Ran:
    async def run() -> Ran:
        async with server.running():
            return await duet(*command(server.url), env=env)

    return asyncio.run(run())


def write_recording(path: Path) -> Path:
    """Five frames."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(24_000)
        file.writeframes(np.arange(5 * 1920, dtype="<i2").tobytes())
    return path


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return write_recording(tmp_path / "in.wav")


def test_a_recording_is_played_and_both_sides_are_kept(tmp_path: Path, recording: Path) -> None:
    out = tmp_path / "out.wav"
    server = EchoServer(api_key="k")
    ran = against(
        lambda url: (
            "file", recording, "-o", out, "--server", url, "--as-fast-as-possible", "--seed", "7"
        ),
        server,
        env={"DUET_API_KEY": "k"},
    )  # fmt: skip
    assert (ran.code, ran.out) == (0, "")
    assert "--pace free" in ran.err.splitlines()[0]
    with wave.open(str(out)) as file:
        assert (file.getnchannels(), file.getnframes()) == (2, 5 * 1920)
    assert json.loads((tmp_path / "out.json").read_text())["duration_s"] == 0.4
    assert "the server says: the echo has no voice of its own" in ran.err.splitlines()
    assert "/content" not in ran.err  # nothing was asked to be kept there
    start = server.commands[0]
    assert isinstance(start, duet_client.wire.SessionStart)
    assert start.duet == duet_client.DuetOptions(seed=7)


def test_a_call_that_broke_is_exit_code_2_and_what_there_was_is_kept(tmp_path: Path, recording: Path) -> None:
    out = tmp_path / "out.wav"
    ran = against(
        lambda url: ("file", recording, "-o", out, "--server", url), EchoServer(Trouble(vanish_at=3))
    )
    assert ran.code == 2
    assert ran.err.splitlines()[-1].startswith("duet_client: the connection ended before session.closed")
    assert out.exists()


@pytest.mark.parametrize(
    ("trouble", "line"),
    [(Trouble(full=True), "all 4 places are taken"), (Trouble(refuse_start=True), "no such model: echo2")],
)
def test_a_refusal_is_one_line_and_exit_code_2(
    tmp_path: Path, recording: Path, trouble: Trouble, line: str
) -> None:
    ran = against(
        lambda url: ("file", recording, "-o", tmp_path / "out.wav", "--server", url), EchoServer(trouble)
    )
    assert (ran.code, ran.err) == (2, f"duet_client: {line}\n")


def test_a_temperature_that_no_message_can_hold_is_one_line(tmp_path: Path, recording: Path) -> None:
    out = tmp_path / "out.wav"
    ran = against(
        lambda url: ("file", recording, "-o", out, "--server", url, "--text-temperature", "nan"), EchoServer()
    )
    assert (ran.code, ran.err) == (2, "duet_client: numbers must be finite; NaN and infinity are not JSON\n")


def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path, recording: Path) -> None:
    no_devices = tmp_path / "nothing"
    no_devices.mkdir()
    (no_devices / "sounddevice.py").write_text("raise OSError('PortAudio library not found')\n")
    for arguments, said in (
        (("file", tmp_path / "no.wav", "-o", tmp_path / "out.wav"), "No such file"),
        (("file", recording, "-o", tmp_path / "out.mp3"), "must end in .wav"),
        (("file", recording, "-o", tmp_path / "out.wav", "--server", "here"), "server address"),
        (("file", recording), "-o/--output"),
        (("bench", "--calls", "two"), "--calls: invalid int value: 'two'"),
        (("bench", "--calls", "0"), "calls must be 1 or more, not 0"),
        (("talk",), "PortAudio"),
    ):
        ran = asyncio.run(duet(*arguments, env={"PYTHONPATH": f"{no_devices}{os.pathsep}{CLIENT}"}))
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err
        assert ran.err.count("\n") == 1


def test_bench_prints_one_json_object() -> None:
    server = EchoServer()
    ran = against(lambda url: ("bench", "--calls", "2", "--seconds", "1", "--json", "--server", url), server)
    found = json.loads(ran.out)
    assert ran.code == (0 if found["valid"] else 3)  # a busy machine may be late, and then says so
    assert found["summary"]["deficits"] == 0
    assert found["summary"]["frames_sent"] == sum(isinstance(c, bytes) for c in server.commands)
    assert set(found["summary"]["latency_ms"]) == {"count", "p50", "p95", "p99", "p99_9", "max"}


def test_bench_reports_no_numbers_when_a_call_failed() -> None:
    ran = against(
        lambda url: ("bench", "--calls", "2", "--seconds", "1", "--server", url),
        EchoServer(Trouble(full=True)),
    )
    assert (ran.code, ran.out) == (3, "")
    assert "not a valid measurement: call 0: all 4 places are taken" in ran.err


def test_the_report_names_every_figure() -> None:
    log = CallLog(frame_bytes=1)
    for latency in (0.010, 0.090):
        log.sent(now=0.002, due=0.0)
        log.received(1, now=0.002 + latency)
    log.sent(now=0.002, due=0.0)
    text = report(BenchResult(BenchPlan(1, 2.0), "m", summarise([log], 0.0), ()))
    assert text.splitlines() == [
        "1 calls, 2 s measured, model m",
        "frame latency   p50 10.0  p95 90.0  p99 90.0  p99.9 90.0  max 90.0 ms  (2 frames)",
        "deadline misses 1 over 80 ms",
        "deficits        1 of 3 frames",
        "send lateness   p50 2.00  p99 2.00 ms (the load generator's own)",
    ]
