"""`python -m evals score`: whole batches, good and bad, first runs and second ones."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from evals.conversation import RATE
from evals.results import Event, load_conversation, load_run
from evals.score import main
from tests.evals import golden

ROOT = Path(__file__).parents[2]


def write_golden(path: Path, duration_s: float = 60.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    talk = golden.conversation()
    both = np.stack([talk.user, talk.agent], axis=1)[: round(duration_s * RATE)]
    soundfile.write(path, both, RATE, subtype="PCM_16")
    return path


def score(out: Path, *paths: Path, more: tuple[str, ...] = ()) -> int:
    words = [
        *map(str, paths),
        "-o",
        str(out),
        "--activity",
        "energy",
        "--no-report",
        "--quiet",
        "--jobs",
        "1",
    ]
    return main([*words, *more])


def metrics(out: Path) -> dict[str, float | None]:
    return {m.id: m.value for m in load_run((out / "metrics.json").read_text()).metrics}


def test_a_recording_is_scored_into_metrics_events_and_a_conversation(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert score(out, write_golden(tmp_path / "golden60.wav")) == 0
    assert metrics(out)["fto_user_to_agent"] == pytest.approx(0.670, abs=0.01)
    found = load_conversation((out / "conversations" / "golden60.json").read_text())
    lines = [Event(**json.loads(line)) for line in (out / "events.jsonl").read_text().splitlines()]
    assert [line.id for line in lines] == [event.id for event in found.events]
    assert len((out / "events.csv").read_text().splitlines()) == len(lines) + 1
    table = {row["id"]: row for row in csv.DictReader((out / "metrics.csv").read_text().splitlines())}
    assert (table["stop_latency"]["value"], table["recovery_latency"]["p50"]) == ("0.6", "1.5")


def test_the_same_input_twice_is_the_same_bytes(tmp_path: Path) -> None:
    path = write_golden(tmp_path / "golden60.wav")
    for name in ("one", "two"):
        assert score(tmp_path / name / "out", path) == 0
    for file in ("metrics.json", "metrics.csv", "events.jsonl", "events.csv", "conversations/golden60.json"):
        assert (tmp_path / "one/out" / file).read_bytes() == (tmp_path / "two/out" / file).read_bytes()


def test_a_second_run_computes_nothing_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, folder = tmp_path / "out", tmp_path / "in"
    write_golden(folder / "a.wav", 20)
    score(out, folder)
    before = (out / "conversations" / "a.json").stat().st_mtime_ns
    write_golden(folder / "b.wav", 20)
    assert score(out, folder) == 0
    assert "2 conversations, 0.7 minutes; 1 kept from before" in capsys.readouterr().out
    assert (out / "conversations" / "a.json").stat().st_mtime_ns == before


def test_other_settings_or_other_words_are_computed_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, path = tmp_path / "out", write_golden(tmp_path / "a.wav", 20)
    score(out, path)
    score(out, path, more=("--threshold", "yield_s=1.5"))
    assert "0 kept" in capsys.readouterr().out
    words = {"words": {"agent": [{"word": "hello", "start": 0.3, "end": 0.8}]}}
    (tmp_path / "a.words.json").write_text(json.dumps(words))
    score(out, path, more=("--threshold", "yield_s=1.5"))
    assert "0 kept" in capsys.readouterr().out
    found = load_conversation((out / "conversations" / "a.json").read_text())
    assert found.method.thresholds["yield_s"] == 1.5
    assert [word.text for word in found.agent.words] == ["hello"]


def write_bad(folder: Path) -> None:
    """Every kind of sound that cannot be scored."""
    second = np.zeros((RATE, 2), np.float32)
    soundfile.write(folder / "mono.wav", second[:, 0], RATE)
    soundfile.write(folder / "empty.wav", second[:0], RATE)
    soundfile.write(folder / "slow.wav", second, 1000)
    second[5, 1] = np.nan
    soundfile.write(folder / "nan.wav", second, RATE, subtype="FLOAT")
    whole = write_golden(folder / "cut.wav", 20).read_bytes()
    (folder / "cut.wav").write_bytes(whole[: len(whole) // 2])
    (folder / "text.wav").write_text("no sound at all")
    (folder / "lonely").mkdir()
    soundfile.write(folder / "lonely" / "input.wav", second[:, 0], RATE)


def test_each_bad_file_is_one_line_and_the_rest_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, folder = tmp_path / "out", tmp_path / "in"
    write_golden(folder / "good.wav", 20)
    write_bad(folder)
    assert score(out, folder) == 3
    run = load_run((out / "metrics.json").read_text())
    assert [c.id for c in run.conversations] == ["good"]
    reasons = {Path(r.path).name: r.reason for r in run.rejected}
    assert reasons.pop("text.wav").startswith("cannot be read as sound: ")
    assert reasons == {
        "mono.wav": "is mono: a conversation needs two channels, one per speaker",
        "empty.wav": "holds no audio",
        "slow.wav": "has a rate of 1000 Hz, outside 4000 to 192000",
        "nan.wav": "holds 1 samples that are NaN or infinite",
        "cut.wav": "is truncated: its header promises 20.00 s and it holds 10.00 s",
        "lonely": "has input.wav and no output.wav: the model's answer is missing",
    }
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 7
    assert (
        f"{folder / 'mono.wav'}: rejected: is mono: a conversation needs two channels, one per speaker"
        in lines
    )


def test_bad_words_are_one_line_each_and_the_sound_is_scored(tmp_path: Path) -> None:
    out, path = tmp_path / "out", write_golden(tmp_path / "a.wav", 20)
    words = [
        {"word": "late", "start": 25.0, "end": 26.0},
        {"word": "backwards", "start": 8.0, "end": 7.0},
        {"word": "second", "start": 7.0, "end": None},
        {"word": "first", "start": 6.3, "end": 6.9},
        {"word": "nowhere", "start": None, "end": 7.0},
        {"word": "long", "start": 19.0, "end": 21.0},
    ]
    (tmp_path / "a.agent.json").write_text(json.dumps({"words": words}))
    (tmp_path / "a.user.json").write_text(json.dumps({"something": "else"}))
    assert score(out, path) == 0
    found = load_conversation((out / "conversations" / "a.json").read_text())
    assert list(found.warnings) == [
        "a.user.json is no JSON with words that is known here"
        " (chunks, words, segments, channels or utterances with words, or SegLST): left out",
        "1 agent words start beyond the end of the recording: dropped",
        "1 agent words end before they start: dropped",
        "1 agent words have no start: dropped",
        "agent words are not in order of time: sorted",
        "1 agent words have no end: set to the next start, half a second at most",
        "1 agent words end beyond the end of the recording: cut",
    ]
    assert [(w.text, w.end) for w in found.agent.words] == [("first", 6.9), ("second", 7.5), ("long", 20.0)]


def test_two_files_of_one_name_are_both_scored_and_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        write_golden(tmp_path / "in" / name / "call.wav", 20)
    assert score(tmp_path / "out", tmp_path / "in") == 0
    run = load_run((tmp_path / "out" / "metrics.json").read_text())
    assert [c.id for c in run.conversations] == ["one-call", "two-call"]
    assert "2 inputs are named call: this is one-call" in capsys.readouterr().err


def test_a_pair_of_unequal_length_and_rate_is_filled_resampled_and_flagged(tmp_path: Path) -> None:
    folder = tmp_path / "in" / "1"
    folder.mkdir(parents=True)
    talk = golden.conversation()
    soundfile.write(folder / "input.wav", talk.user[: 20 * RATE], RATE)
    soundfile.write(folder / "output.wav", golden.channel(golden.AGENT[:3], 330, 19.0, 16_000), 16_000)
    assert score(tmp_path / "out", tmp_path / "in") == 0
    found = load_conversation((tmp_path / "out" / "conversations" / "1.json").read_text())
    assert found.warnings == (
        "output.wav is at 16000 Hz: resampled to 24000",
        "the agent channel is 1.000 s shorter: filled with silence",
    )
    assert found.duration_s == 20.0


def test_channels_in_the_other_order_are_swapped(tmp_path: Path) -> None:
    path = write_golden(tmp_path / "a.wav")
    score(tmp_path / "out", path, more=("--channels", "agent,user"))
    assert metrics(tmp_path / "out")["talk_ratio_user"] == pytest.approx(22.75 / 60, abs=1e-4)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--channels", "left,right"), "invalid choice: 'left,right'"),
        (("--threshold", "yield=2"), "a threshold is NAME=VALUE with NAME one of hop_s, "),
        (("--threshold", "yield_s=-1"), "--threshold: yield_s must be 0 or more"),
        (("--human", "nowhere.json"), "--human: nowhere.json cannot be read as JSON"),
        (("--judge-url", "http://localhost:1"), "--judge-url and --judge-model go together"),
        (("--jobs", "0"), "--jobs must be 1 or more"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], message: str
) -> None:
    assert score(tmp_path / "out", tmp_path / "a.wav", more=more) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert message in lines[0]


def test_a_path_that_is_not_there_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(tmp_path / "out", tmp_path / "nowhere") == 2
    assert "there is no such file or folder" in capsys.readouterr().err


def test_files_are_scored_side_by_side_to_the_same_bytes(tmp_path: Path) -> None:
    for n in range(4):
        write_golden(tmp_path / "in" / f"call{n}.wav", 20)
    score(tmp_path / "alone", tmp_path / "in")
    command = [sys.executable, "-m", "evals", "score", str(tmp_path / "in"), "-o", str(tmp_path / "both")]
    command += ["--activity", "energy", "--no-report", "--jobs", "2"]
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'client'}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("4 conversations, ")
    for n in range(4):
        name = f"conversations/call{n}.json"
        assert (tmp_path / "alone" / name).read_bytes() == (tmp_path / "both" / name).read_bytes()


def test_an_interrupted_run_goes_on_where_it_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    write_golden(folder / "a.wav", 20)
    soundfile.write(folder / "b.wav", np.zeros(RATE), RATE)
    for n in range(60):
        (folder / f"c{n:02d}.wav").hardlink_to(folder / "a.wav")
    command = [sys.executable, "-m", "evals", "score", str(folder), "-o", str(out), "--activity", "energy"]
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'client'}", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [*command, "--no-report", "--quiet", "--jobs", "1"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stderr is not None
        assert "is mono" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == "interrupted: the same command goes on where this one stopped\n"
    assert process.returncode == 130
    done = len(list((out / "conversations").glob("*.json")))
    assert 1 <= done < 61
    assert score(out, folder) == 3
    assert f"61 conversations, 20.3 minutes; {done} kept from before; 1 rejected" in capsys.readouterr().out
