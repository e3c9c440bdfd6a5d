"""`evals run` as a person uses it: on a real server, and with a server of its own."""

from __future__ import annotations

import filecmp
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from evals.run import main
from model.untrained import write_untrained
from tests.e2e.running_server import RunningServer, running_server
from tests.evals.staging import named_scenario

PLAIN = 'behaviour = "smooth_turn_taking"\nlead_in_s = 0.2\ntail_s = 0.6\n'
PLAIN += '[[say]]\nid = "question"\nclip = "question.wav"\nat_s = 0.0\n'
REACTIVE = '[[say]]\nclip = "stop.wav"\nevent = "interruption"\nafter = "question"\n'
REACTIVE += 'when = "agent_speaks"\nfor_s = 0.3\ntimeout_s = 1.0\non_timeout = "say"\n'


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With two codebooks a side: a third of the work a frame."""
    folder = tmp_path_factory.mktemp("evals-model")
    write_untrained(folder, context=25, num_layers=1, n_q=4, dep_q=2, delays=[0, 0, 1, 0, 1])
    return folder


@pytest.fixture(scope="module")
def server(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(model, tmp_path_factory.mktemp("evals-server"), "--capacity", "2") as running:
        yield running


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`one` says its question, `two` waits for the agent after it."""
    folder = tmp_path_factory.mktemp("scenarios")
    named_scenario(folder, "one", PLAIN, question=0.7)
    named_scenario(folder, "two", PLAIN + REACTIVE, question=0.7, stop=0.3)
    return folder


@pytest.fixture(scope="module")
def offline(scenarios: Path, model: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same run twice, each with a server of its own; take 2 has another seed."""
    folder = tmp_path_factory.mktemp("offline")
    runs = [folder / "first", folder / "second"]
    for out in runs:
        assert run(scenarios, "--offline", model, "-o", out, "--seed", 5, "--takes", 2) == 0
    return runs


def run(*arguments: object) -> int:
    return main([*map(str, arguments), "--no-score"])


def text(out: Path, name: str) -> list[str]:
    session = json.loads((out / name / f"{name}-01" / "session.json").read_text())
    return [word["word"] for word in session["words"]["agent"]]


def files(out: Path) -> list[str]:
    return sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())


def test_equal_seeds_give_equal_bytes_offline(offline: list[Path]) -> None:
    first, second = offline
    names = files(first)
    assert len(names) == 2 * 2 * 5 + 1  # scenarios, takes, files of each; run.json
    assert filecmp.cmpfiles(first, second, names, shallow=False) == (names, [], [])


def test_another_seed_gives_another_output(offline: list[Path]) -> None:
    outputs = [offline[0] / "one" / f"one-0{take}" / "output.wav" for take in (1, 2)]
    assert outputs[0].stat().st_size == outputs[1].stat().st_size
    assert outputs[0].read_bytes() != outputs[1].read_bytes()


def test_a_live_agent_says_what_it_says_offline(
    server: RunningServer,
    scenarios: Path,
    offline: list[Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Same seed and same input; only when it is heard may differ."""
    live = tmp_path / "live"
    assert run(scenarios, "--server", server.url, "-o", live, "--at-once", 2, "--seed", 5) == 0
    assert "2 planned, 2 completed, 2 attempts" in capsys.readouterr().out
    heard = text(live, "one")[:-1]  # the last word may be cut by the end
    assert len(heard) > 3
    assert heard == text(offline[0], "one")[: len(heard)]


def test_a_live_run_names_the_model_and_that_it_is_untrained(
    server: RunningServer, scenarios: Path, tmp_path: Path
) -> None:
    assert run(scenarios / "one.toml", "--server", server.url, "-o", tmp_path / "out") == 0
    told = json.loads((tmp_path / "out" / "run.json").read_text())
    assert (told["server"], told["model"]["trained"], told["model"]["capacity"]) == (server.url, False, 2)


def test_what_was_run_is_scored_from_what_was_staged(
    server: RunningServer, scenarios: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    arguments = [scenarios / "one.toml", "--server", server.url, "-o", out, "--activity", "energy"]
    assert main([*map(str, arguments)]) == 0
    scored = json.loads((out / "scores" / "metrics.json").read_text())
    assert [each["id"] for each in scored["conversations"]] == ["one-01"]
    assert scored["methods"][0]["origin"] == "ear"
    assert any(metric["scoring"] == "annotated" for metric in scored["metrics"])


def test_more_at_once_than_the_server_holds_is_refused_at_once(
    server: RunningServer, scenarios: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(scenarios, "--server", server.url, "-o", tmp_path / "out", "--at-once", 3) == 2
    assert capsys.readouterr().err == ("evals run: --at-once 3 is more than the 2 sessions the server has\n")


def test_a_mistake_in_a_scenario_stops_the_run_before_it_begins(
    scenarios: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "three.toml"
    clips = PLAIN.replace("question.wav", f"{scenarios}/question.wav") + REACTIVE.replace(
        "stop.wav", f"{scenarios}/stop.wav"
    )
    path.write_text(clips.replace("for_s = 0.3", "for_s = 0"))
    assert run(scenarios, path, "--offline", "default", "-o", tmp_path / "out") == 2
    expected = f"evals run: {path}: say[2].for_s must be a number from 0.05 to 60, not 0\n"
    assert capsys.readouterr().err == expected
    assert not (tmp_path / "out").exists()


def test_a_server_that_is_not_there_is_one_line(
    scenarios: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(scenarios, "--server", "ws://127.0.0.1:9", "-o", tmp_path / "out") == 2
    assert "evals run: ws://127.0.0.1:9 cannot be reached:" in capsys.readouterr().err


def test_a_model_that_is_not_there_is_one_line(
    scenarios: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(scenarios, "--offline", tmp_path / "no-model", "-o", tmp_path / "out") == 2
    said = capsys.readouterr().err
    assert said.startswith("evals run: the server for --offline did not start: ")
    assert "no-model" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--takes", "0"], "takes must be from 1 to 1000, not 0"),
        (["--takes", "x"], "argument --takes: invalid int value: 'x'"),
        (["--offline", "default", "--server", "ws://x"], "argument --server: not allowed with"),
        (["--tail-s", "500"], "tail_s must be from 0 to 120, not 500"),
    ],
)
def test_a_bad_option_is_one_line(
    scenarios: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = run(scenarios, *arguments)
    except SystemExit as exit_:
        code = exit_.code
    assert code == 2
    assert said in capsys.readouterr().err


def test_a_killed_run_takes_its_server_along_and_keeps_its_books(
    scenarios: Path, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    program = "import sys\nfrom evals.run import main\nsys.exit(main(sys.argv[1:]))"
    arguments = [str(scenarios), "--offline", str(model), "-o", str(out), "--takes", "30", "--no-score"]
    command = [sys.executable, "-c", program, *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ)
    try:
        ends = time.monotonic() + 120
        while not (out / "two" / "two-01").exists() and time.monotonic() < ends:
            assert process.poll() is None
            time.sleep(0.02)
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "interrupted; the same command goes on from here" in said
    assert children
    assert psutil.wait_procs(children, timeout=60)[1] == []
    counts = json.loads((out / "run.json").read_text())["counts"]
    assert 2 <= counts["completed"] < 60
    assert counts["missing"] == 60 - counts["completed"]
