"""A recording played to a real server, and what is left on disk."""

from __future__ import annotations

import asyncio
import json
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duet_client.errors import CommandError
from duet_client.play import Played, play
from tests.client.echo_server import NONE, EchoServer, Trouble

FRAME = 1920
RAMP = np.arange(2 * FRAME + 100, dtype=np.int16)  # two frames and a bit


def run(
    output: Path, trouble: Trouble = NONE, *, pcm: Any = RAMP, fast: bool = True
) -> tuple[Played, list[float]]:
    progress: list[float] = []

    async def body() -> Played:
        async with EchoServer(trouble).running() as server:
            return await play(server.url, pcm, output, fast=fast, on_progress=progress.append)

    return asyncio.run(body()), progress


def channels(path: Path) -> Any:
    with wave.open(str(path)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2).T


@pytest.mark.parametrize("fast", [True, False])
def test_frame_n_that_was_sent_stands_beside_frame_n_that_came_back(tmp_path: Path, fast: bool) -> None:
    played, progress = run(tmp_path / "out.wav", fast=fast)
    user, agent = channels(tmp_path / "out.wav")
    assert user.tolist() == [*RAMP.tolist(), *[0] * (FRAME - 100)]
    assert agent.tolist() == user.tolist()
    assert (played.seconds, played.missing_s, played.error) == (0.24, 0.0, None)
    assert progress == [0.08, 0.16, 0.24]


def test_the_transcript_lies_beside_the_recording(tmp_path: Path) -> None:
    played, _ = run(tmp_path / "out.wav")
    assert played.transcript == tmp_path / "out.json"
    found = json.loads(played.transcript.read_text())
    assert found["session"]["id"] == "sess_1"
    assert (found["recording"], found["reason"], found["duration_s"]) == ("out.wav", "close_requested", 0.24)
    assert found["channels"][1]["words"] == [{"text": "w1", "start_ms": 0, "end_ms": 80}]
    assert found["notices"][0]["code"] == "voice_unsupported"


def test_unpaced_audio_waits_for_its_answers_and_loses_none(tmp_path: Path) -> None:
    frames = 200  # far more than may be under way at once
    pcm = np.random.default_rng(1).integers(-3000, 3000, frames * FRAME).astype(np.int16)
    played, _ = run(tmp_path / "out.wav", pcm=pcm)
    user, agent = channels(tmp_path / "out.wav")
    assert played.seconds == pytest.approx(frames * 0.08)
    assert np.array_equal(user, pcm)
    assert np.array_equal(agent, pcm)


def test_an_answer_that_never_came_is_silence_at_the_end_and_is_told(tmp_path: Path) -> None:
    played, _ = run(tmp_path / "out.wav", Trouble(swallow=2))
    user, agent = channels(tmp_path / "out.wav")
    assert played.missing_s == pytest.approx(0.08)
    assert len(user) == len(agent) == 3 * FRAME
    assert not agent[2 * FRAME :].any()
    assert json.loads(played.transcript.read_text())["missing_samples"] == FRAME


def test_a_server_that_vanishes_leaves_what_there_was(tmp_path: Path) -> None:
    played, _ = run(tmp_path / "out.wav", Trouble(vanish_at=3))
    assert played.error is not None
    assert "connection ended" in played.error
    _, agent = channels(tmp_path / "out.wav")
    assert agent[: 2 * FRAME].tolist() == RAMP[: 2 * FRAME].tolist()
    assert json.loads(played.transcript.read_text())["error"] == played.error


def test_a_server_that_closes_early_ends_the_run_with_its_reason(tmp_path: Path) -> None:
    pcm = np.ones(100 * FRAME, np.int16)
    played, _ = run(tmp_path / "out.wav", Trouble(close_at=10), pcm=pcm)
    assert played.error == "the server closed the session early (expired)"
    _, agent = channels(tmp_path / "out.wav")
    assert agent[: 9 * FRAME].all()


def test_a_run_that_is_cancelled_tells_what_it_kept(tmp_path: Path) -> None:
    kept: list[Played] = []

    async def body() -> None:
        async with EchoServer(Trouble(deaf_to_close=True)).running() as server:
            heard = asyncio.Event()
            call = asyncio.create_task(
                play(
                    server.url,
                    RAMP[: 2 * FRAME],
                    tmp_path / "out.wav",
                    fast=True,
                    on_progress=lambda done_s: heard.set() if done_s > 0.1 else None,
                    on_kept=kept.append,
                )
            )
            await heard.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    asyncio.run(body())
    (played,) = kept
    assert (played.recording, played.seconds, played.error) == (tmp_path / "out.wav", 0.16, "interrupted")
    assert len(channels(tmp_path / "out.wav")[1]) == 2 * FRAME


def test_an_output_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"cannot write .*nowhere/out\.wav: No such file"):
        run(tmp_path / "nowhere" / "out.wav")
