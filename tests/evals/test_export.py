"""`python -m evals export`: what is written holds what was scored, in the layout of each tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from evals.conversation import RATE
from evals.export import FORMATS, main
from evals.labels import TIER_NAMES
from evals.readers.lines import parse_ctm, parse_rttm
from evals.readers.textgrid import parse_textgrid
from evals.score import main as score
from tests.evals import golden

WORDS = {
    "user": [{"word": "question?", "start": 12.0, "end": 13.5}, {"word": "Stop", "start": 22.0, "end": 24.0}],
    "agent": [{"word": "an", "start": 13.3, "end": 15.0}, {"word": "answer", "start": 15.0, "end": 18.0}],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scored")
    talk = golden.conversation()
    soundfile.write(folder / "call.wav", np.stack([talk.user, talk.agent], axis=1), RATE, subtype="PCM_16")
    (folder / "call.words.json").write_text(json.dumps({"words": WORDS}))
    out = folder / "out"
    assert (
        score([str(folder / "call.wav"), "-o", str(out), "--activity", "energy", "--no-report", "--quiet"])
        == 0
    )
    return out


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_every_format_is_written(run: Path, tmp_path: Path) -> None:
    assert main([str(run), "-o", str(tmp_path), "--format", *FORMATS]) == 0
    assert {path.name.removeprefix("call.") for path in tmp_path.iterdir()} == {
        *("ctm", "stm", "rttm", "uem", "seglst.json", "TextGrid", "eaf", "vtt", "srt"),
        *(f"{name}.txt" for name in TIER_NAMES),
    }
    assert [(w.start, w.text) for w in parse_ctm((tmp_path / "call.ctm").read_text())] == [
        (12.0, "question?"),
        (22.0, "Stop"),
        (13.3, "an"),
        (15.0, "answer"),
    ]
    speech = parse_rttm((tmp_path / "call.rttm").read_text())
    assert [(s.start, s.end) for s in speech if s.channel == "user"] == list(golden.USER)
    grid = parse_textgrid((tmp_path / "call.TextGrid").read_text())
    assert [(i.start, i.end) for i in grid["agent-ipu"]] == list(golden.AGENT)


def take_over(words: list[dict[str, Any]]) -> bool:
    """The benchmark's rule, on the benchmark's file."""
    if not words:
        return False
    span = words[-1]["timestamp"][1] - words[0]["timestamp"][0]
    return not (span < 1 and len(words) <= 3)


def test_a_benchmark_folder_has_all_that_its_scripts_read(run: Path, tmp_path: Path) -> None:
    names = [
        f"fdb-v1:{t}" for t in ("pause_handling", "smooth_turn_taking", "user_interruption", "backchannel")
    ]
    assert main([str(run), "-o", str(tmp_path), "--format", *names]) == 0
    for task in ("pause_handling", "smooth_turn_taking", "user_interruption", "backchannel"):
        folder = tmp_path / task / "1"
        assert [p.name for p in (tmp_path / task).iterdir()] == ["1"]
        output, rate = soundfile.read(folder / "output.wav")
        assert (output.shape, rate) == ((60 * RATE,), RATE)
        assert soundfile.info(folder / "input.wav").frames == len(output)
        assert take_over(read(folder / "output.json")["chunks"])
    turn = read(tmp_path / "smooth_turn_taking/1/turn_taking.json")[0]
    first = read(tmp_path / "smooth_turn_taking/1/output.json")["chunks"][0]
    assert (turn["text"], turn["timestamp"][0]) == ("[TURN-TAKING]", 6.0)
    assert first["timestamp"][0] - turn["timestamp"][0] == pytest.approx(7.3)
    pauses = read(tmp_path / "pause_handling/1/pause.json")
    assert [p["timestamp"] for p in pauses] == [[4.0, 4.6], [33.0, 33.8]]
    assert read(tmp_path / "user_interruption/1/interrupt.json")[0]["timestamp"] == [22.0, 24.0]
    index = read(tmp_path / "smooth_turn_taking.index.json")
    assert index == [{"folder": 1, "id": "call", "events": "inferred"}]


def test_what_was_exported_is_read_and_scored_as_the_original(run: Path, tmp_path: Path) -> None:
    assert main([str(run), "-o", str(tmp_path), "--format", "fdb-v2"]) == 0
    again = tmp_path / "again"
    words = [str(tmp_path / "v2"), "-o", str(again), "--activity", "energy", "--no-report", "--quiet"]
    assert score(words) == 0
    one, other = read(run / "conversations/call.json"), read(again / "conversations/1.json")
    for part in ("duration_s", "user", "agent"):
        assert one[part] == other[part]


def test_without_words_the_benchmark_cannot_run_and_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soundfile.write(tmp_path / "a.wav", np.full((RATE, 2), 0.1), RATE)
    out = str(tmp_path / "out")
    score([str(tmp_path / "a.wav"), "-o", out, "--activity", "energy", "--no-report", "--quiet"])
    assert main([out, "-o", str(tmp_path / "fdb"), "--format", "fdb-v1:backchannel"]) == 3
    assert "a: fdb-v1:backchannel: has no words of the agent" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [(["--format", "mp3"], "invalid choice: 'mp3'"), ([], "it is not what score wrote")],
)
def test_what_cannot_be_exported_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    assert main([str(tmp_path), "-o", str(tmp_path / "x"), *more]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert message in lines[0]
