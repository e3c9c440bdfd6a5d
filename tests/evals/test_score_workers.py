"""Workers that are killed and batches that are interrupted, with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evals import score
from evals.extras import Extras
from evals.readers.sources import Source
from evals.scoring import Settings
from evals.work import Done, Job

ROOT = Path(__file__).parents[2]

WAITING = """
import os, sys, time
from pathlib import Path
from evals import score
from tests.evals.test_score_workers import job

def wait(_):
    os.write(1, b"began\\n")  # in one piece, beside the other worker's
    time.sleep(600)

if __name__ == "__main__":
    score.work = wait
    try:
        list(score._worked([job("a"), job("b")], 2))
    except KeyboardInterrupt:
        sys.exit(130)
"""


def job(name: str) -> Job:
    return Job(Source(name, "stereo", Path(name)), Settings(), Extras(), Path())


def fatal_for_some(given: Job) -> Done:
    if given.source.id.startswith("fatal"):
        os.kill(os.getpid(), signal.SIGKILL)
    return Done(given.source)


def test_a_worker_that_is_killed_costs_its_own_conversation_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score, "work", fatal_for_some)
    names = ["a", "fatal", "b", "fatal-too", "c"]
    done = {one.source.id: one.reason for one in score._worked([job(name) for name in names], 2)}
    killed = "its process was killed, perhaps for memory: run it with --jobs 1"
    assert done == {"a": "", "fatal": killed, "b": "", "fatal-too": killed, "c": ""}


def test_an_interrupted_batch_does_not_wait_for_the_conversations_it_is_in(tmp_path: Path) -> None:
    script = tmp_path / "waiting.py"
    script.write_text(WAITING)
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'client'}", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "began\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
