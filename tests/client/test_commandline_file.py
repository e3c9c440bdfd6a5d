"""`file` and the options beside it, as a process: what is kept, where, and what is refused."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import wave
from pathlib import Path

import pytest

import duet_client
from tests.client.echo_server import EchoServer, Trouble
from tests.client.test_commandline import CLIENT, against, duet, write_recording


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return write_recording(tmp_path / "in.wav")


@pytest.mark.parametrize("way", ["same", "spelling", "symbolic", "hard", "json"])
def test_a_recording_is_never_overwritten_by_what_it_brings(
    tmp_path: Path, recording: Path, way: str
) -> None:
    (tmp_path / "sub").mkdir()
    link = tmp_path / ("link.json" if way == "json" else "link.wav")
    if way in ("symbolic", "json"):
        link.symlink_to(recording)
    if way == "hard":
        link.hardlink_to(recording)
    other = {"same": recording, "spelling": tmp_path / "sub" / ".." / "in.wav"}.get(way, link)
    before = recording.read_bytes()
    ran = asyncio.run(duet("file", recording, "-o", other.with_suffix(".wav")))
    said = f"duet_client: {other} is the recording to play and would be overwritten\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)
    assert recording.read_bytes() == before


def test_store_asks_the_server_to_keep_its_own_and_tells_where(tmp_path: Path, recording: Path) -> None:
    server = EchoServer()
    ran = against(
        lambda url: ("file", recording, "-o", tmp_path / "out.wav", "--server", url, "--store"), server
    )
    start = server.commands[0]
    assert isinstance(start, duet_client.wire.SessionStart)
    assert start.store
    address = server.url.replace("ws:", "http:") + "/v1/live/sessions/sess_1/content"
    assert ran.code == 0
    assert f"the server keeps session sess_1: {address}" in ran.err.splitlines()


def test_a_tail_of_silence_waits_for_the_answer(tmp_path: Path, recording: Path) -> None:
    out = tmp_path / "out.wav"
    ran = against(lambda url: ("file", recording, "-o", out, "--tail", "0.4", "--server", url), EchoServer())
    assert ran.code == 0
    with wave.open(str(out)) as file:
        assert file.getnframes() == (5 + 5) * 1920
    refused = asyncio.run(duet("file", recording, "-o", out, "--tail", "-1"))
    assert (refused.code, refused.err) == (2, "duet_client: --tail must be 0 to 600 seconds, not -1\n")


def test_an_interrupted_call_says_in_one_line_what_was_kept(tmp_path: Path, recording: Path) -> None:
    out = tmp_path / "out.wav"

    async def run() -> tuple[int | None, list[str]]:
        async with EchoServer(Trouble(deaf_to_close=True)).running() as server:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "duet_client", "file", str(recording)),
                *("-o", str(out), "--server", server.url),
                env=os.environ | {"PYTHONPATH": str(CLIENT)},
                stderr=asyncio.subprocess.PIPE,
            )
            assert process.stderr is not None
            await process.stderr.readline()  # the server's notice: the call runs
            process.send_signal(signal.SIGINT)
            _, err = await process.communicate()
            return process.returncode, err.decode().splitlines()

    code, (line,) = asyncio.run(run())
    assert code == 130
    kept = f"s are kept in {out}, {tmp_path / 'out.json'}"
    assert re.fullmatch(r"duet_client: interrupted; \d\.\d\d " + re.escape(kept), line)
    assert json.loads((tmp_path / "out.json").read_text())["error"] == "interrupted"
    with wave.open(str(out)) as file:
        assert file.getnchannels() == 2


def test_what_is_no_audio_is_told_in_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("soundfile")
    pytest.importorskip("sphn")
    text = tmp_path / "README.md"
    text.write_text("# Read me\n")
    ran = asyncio.run(duet("file", text, "-o", tmp_path / "out.wav"))
    reason = "is damaged, or no audio in a format that soundfile or sphn can decode"
    assert (ran.code, ran.err) == (2, f"duet_client: {text} {reason}\n")


def test_the_version_is_the_packages_own() -> None:
    ran = asyncio.run(duet("--version"))
    assert (ran.code, ran.out, ran.err) == (0, f"duet_client {duet_client.__version__}\n", "")
