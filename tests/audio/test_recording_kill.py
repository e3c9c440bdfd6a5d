"""SIGKILL at any moment: real processes that record, killed for real."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import audio
from audio.recording import Recording, open_recording

MAKER = """
import os, signal, sys
from pathlib import Path
import numpy as np
from audio.recording import FrameFlags, RecordingWriter

folder, container, frames = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
writer = RecordingWriter(folder, "call", {"seed": 7}, container)
noise = np.random.default_rng(0).uniform(-0.5, 0.5, 1920).astype(np.float32)

def write(n):
    user = noise.copy()
    user[0] = n % 256 / 256
    writer.write(user, -user, FrameFlags(n % 32))
"""
CALL = f"{MAKER}\nfor n in range(frames):\n    write(n)\n    print(n, flush=True)\n"
FINISH = f"""{MAKER}
for n in range(frames):
    write(n)
print("finishing", flush=True)
writer.finish("close_requested", {{}})
"""
DIE_AT_STEP = """
steps_left = int(sys.argv[-1])

def die(event, arguments):
    global steps_left
    steps_left -= event == "open" or event.startswith("os.")
    if steps_left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(die)
"""
FINISH_AND_DIE = f"""{MAKER}
for n in range(frames):
    write(n)
{DIE_AT_STEP}
writer.finish("close_requested", {{}})
"""
REPAIR_AND_DIE = f"""
import os, signal, sys
from pathlib import Path
from audio.recording import open_recording
{DIE_AT_STEP}
open_recording(Path(sys.argv[1]) / "call.wav")
"""


def start(script: str, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    root = Path(audio.__path__[0]).parent
    return subprocess.Popen(
        [sys.executable, "-c", script, str(folder), *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(root)},
    )


def assert_holds_frames(recording: Recording, at_least: int, at_most: int) -> None:
    assert at_least <= recording.frames <= at_most
    samples = recording.samples
    assert samples.shape == (recording.frames * 1_920, 2)
    assert np.array_equal(samples[:, 0], -samples[:, 1])
    assert np.array_equal(samples[::1_920, 0], np.arange(recording.frames) % 256 / 256)
    assert [int(flags) for flags in recording.flags] == [n % 32 for n in range(recording.frames)]
    assert recording.metadata["seed"] == 7
    left = {path.suffix for path in recording.path.parent.iterdir()}
    assert left == {recording.path.suffix, ".json"}


@pytest.mark.parametrize("repetition", range(5))
def test_a_kill_during_a_call_loses_at_most_the_frame_being_written(tmp_path: Path, repetition: int) -> None:
    until = random.Random(repetition).randrange(1, 400)
    with start(CALL, tmp_path, "flac", "1000000") as process:
        assert process.stdout is not None
        while process.stdout.readline() != f"{until}\n":
            pass
        process.kill()
        last = [until, *(int(line) for line in process.stdout if line.endswith("\n"))][-1]
    assert process.returncode == -signal.SIGKILL
    recording = open_recording(tmp_path / "call.wav")
    assert recording.metadata["status"] == "recovered"
    assert_holds_frames(recording, at_least=last + 1, at_most=last + 2)


def test_a_kill_during_the_conversion_to_flac_loses_nothing(tmp_path: Path) -> None:
    part = tmp_path / "call.flac.part"
    with start(FINISH, tmp_path, "flac", "2000") as process:
        while not (part.exists() and part.stat().st_size > 100_000):
            assert process.poll() is None
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert part.exists()
    assert_holds_frames(open_recording(tmp_path / "call.json"), at_least=2_000, at_most=2_000)


@pytest.mark.parametrize("container", ["wav", "flac"])
def test_a_kill_between_any_two_steps_of_finish_loses_nothing(tmp_path: Path, container: str) -> None:
    endings = []
    for step in range(1, 100):
        folder = tmp_path / str(step)
        with start(FINISH_AND_DIE, folder, container, "10", str(step)) as process:
            pass
        recording = open_recording(folder / "call.json")
        assert_holds_frames(recording, at_least=10, at_most=10)
        endings.append((recording.metadata["status"], recording.path.suffix[1:]))
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
    assert endings[0] == ("recovered", "wav")
    assert endings[-2:] == [("finished", container)] * 2  # the last but one died in the clearing up
    assert len(endings) >= 4


def test_a_kill_between_any_two_steps_of_a_repair_loses_nothing(tmp_path: Path) -> None:
    for step in range(1, 100):
        folder = tmp_path / str(step)
        with start(FINISH_AND_DIE, folder, "flac", "10", "4"):
            pass
        with start(REPAIR_AND_DIE, folder, str(step)) as repair:
            pass
        assert_holds_frames(open_recording(folder / "call.json"), at_least=10, at_most=10)
        if repair.returncode == 0:
            break
        assert repair.returncode == -signal.SIGKILL
    assert step >= 4
