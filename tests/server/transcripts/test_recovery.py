"""After a kill: whole lines stand, and the next start makes a transcript of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from server.transcripts.desk import recover_all
from tests.server.transcripts.keeping import ID, WAIT_S, desk, lines, whole

ROOT = Path(__file__).resolve().parents[3]

KILLED = f"""
import os, signal, sys
from pathlib import Path
from prometheus_client import CollectorRegistry
from duet_client.wire import Word
from server.observation_metrics import ObservationMetrics
from server.transcripts.desk import Desk
from server.transcripts.redaction import Redaction
from server.transcripts.scribe import Keeping

desk = Desk(Keeping(Path(sys.argv[1]), "full", Redaction()), True, ObservationMetrics(CollectorRegistry()))
entry = desk.open("{ID}", {{"wire": "live"}})
for n in range(500):
    entry.words("user", [Word(f"w{{n}}", n * 300, n * 300 + 200, 0.9)], n * 300 + 300)
    if n == 250:
        if sys.argv[2] == "closed":
            entry.close("close_requested", 1_000)
        desk.hand(lambda: os.kill(os.getpid(), signal.SIGKILL))
import time
time.sleep(60)
"""


def test_after_a_kill_whole_lines_stand_and_the_next_start_makes_a_transcript_of_them(tmp_path: Path) -> None:
    run_and_kill(tmp_path, "running")
    kept = lines(tmp_path)
    assert [each["word"] for each in kept] == [f"w{n}" for n in range(len(kept))]
    assert kept
    with (tmp_path / f"{ID}.transcript.jsonl").open("a") as file:
        file.write('{"channel": "us')  # as a failing disk might leave it
    recover_all(tmp_path)
    content = whole(tmp_path)
    assert (content["status"], content["wire"]) == ("recovered", "live")
    assert content["counts"]["user"]["words"] == len(kept)
    assert " ".join(each["text"] for each in content["utterances"]).split()[:2] == ["w0", "w1"]
    assert not list(tmp_path.glob("*.open"))


def test_a_call_that_waited_for_its_last_pass_at_the_kill_keeps_what_is_known_of_it(tmp_path: Path) -> None:
    run_and_kill(tmp_path, "closed")
    recover_all(tmp_path)
    content = whole(tmp_path)
    assert (content["status"], content["reason"], content["duration_ms"]) == (
        "closed",
        "close_requested",
        80_000,
    )
    assert content["counts"]["user"]["words"] == len(lines(tmp_path)) == 251
    assert not list(tmp_path.glob("*.open"))


def run_and_kill(folder: Path, when: str) -> None:
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'client'}"}
    run = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder), when], cwd=ROOT, env=os.environ | paths, check=False
    )
    assert run.returncode == -signal.SIGKILL


def test_the_transcript_of_a_call_that_still_runs_is_not_recovered(tmp_path: Path) -> None:
    with desk(tmp_path) as made:
        entry = made.desk.open(ID, {})
        reached = threading.Event()
        made.desk.hand(reached.set)
        assert reached.wait(WAIT_S)
        recover_all(tmp_path)
        assert [path.suffix for path in tmp_path.iterdir() if path.suffix == ".open"] == [".open"]
        entry.close("close_requested", 0)
    assert whole(tmp_path)["status"] == "closed"


def test_what_cannot_be_read_is_logged_and_stops_no_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = "sess_" + "f" * 32
    (tmp_path / f"{other}.transcript.open").write_text("{}")
    (tmp_path / f"{other}.transcript.jsonl").write_text("no json\n")
    (tmp_path / f"{ID}.transcript.open").write_text("{")  # killed before it was whole
    recover_all(tmp_path)
    assert whole(tmp_path)["status"] == "recovered"
    assert [record.levelname for record in caplog.records] == ["WARNING", "ERROR"]
