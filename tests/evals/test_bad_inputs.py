"""Inputs that somebody got wrong: one line each that says what and where, and the sound is scored."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from evals.conversation import RATE, InputError
from evals.intervals import Interval
from evals.readers.discover import discover
from evals.readers.sources import load
from evals.results import load_conversation
from evals.score import main


def sound(path: Path, seconds: float = 2.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, np.full((round(seconds * RATE), 2), 0.1, np.float32), RATE)
    return path


def driven(folder: Path, **more: object) -> Path:
    sound(folder / "conversation.wav")
    session = {"id": "s-1", "scenario": "s", "status": "completed", "annotations": []} | more
    (folder / "session.json").write_text(json.dumps(session))
    return folder


def warnings(path: Path) -> tuple[str, ...]:
    (source,) = discover([path]).sources
    return load(source).warnings


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.annotations.json", "[1]", "has no list of annotations, each an object"),
        ("a.annotations.json", '[{"type": "tic", "start": NaN}]', "needs finite times: nan to nan"),
        ("a.annotations.json", '[{"type": "tic", "start": 0, "end": Infinity}]', "needs finite times"),
        ("a.rttm", "SPEAKER a 1 1.0 -0.5 <NA> <NA> user <NA> <NA>\n", "line 1 is no RTTM"),
        ("a.rttm", "SPEAKER a 1 nan 0.5 <NA> <NA> user <NA> <NA>\n", "line 1 is no RTTM"),
        (
            "a.log.jsonl",
            '{"type": "response", "user_end": NaN, "latency": 1}\n',
            "line 1 is no event of a log",
        ),
        (
            "a.log.jsonl",
            '{"type": "speech", "channel": "user", "start": "0", "end": "1"}\n',
            "line 1 is no event of a log",
        ),
        ("a.agent.json", "[" * 100_000, "a.agent.json is not JSON"),
    ],
)
def test_a_time_that_is_none_leaves_the_file_out_and_the_sound_in(
    tmp_path: Path, name: str, text: str, line: str
) -> None:
    path = sound(tmp_path / "a.wav")
    (tmp_path / name).write_text(text)
    (said,) = warnings(path)
    assert line in said
    assert said.endswith(": left out")


def test_an_interval_has_finite_ends() -> None:
    for start, end in ((float("nan"), 1.0), (0.0, float("nan")), (0.0, float("inf"))):
        with pytest.raises(ValueError, match="needs finite times"):
            Interval(start, end)


def test_what_is_annotated_outside_the_recording_did_not_happen_in_it(tmp_path: Path) -> None:
    """A pause after the end of the file would count as one in which the agent held back."""
    path = sound(tmp_path / "a.wav")
    notes = [("pause", 30.0, 31.0), ("turn_end", -5.0, -5.0), ("pause", 1.5, 2.5), ("turn_end", 2.0, 2.0)]
    items = [{"type": kind, "start": start, "end": end} for kind, start, end in notes]
    (tmp_path / "a.annotations.json").write_text(json.dumps(items))
    (source,) = discover([path]).sources
    talk = load(source)
    assert [(a.type, a.span.start, a.span.end) for a in talk.annotations] == [
        ("pause", 1.5, 2.0),
        ("turn_end", 2.0, 2.0),
    ]
    assert talk.warnings == (
        "2 annotations begin outside the recording: left out",
        "1 annotations end beyond the end of the recording: cut",
    )


@pytest.mark.parametrize("clocks", ["fast", [[1, 2], [3]], [[0, None]], 5])
def test_clocks_that_are_no_pairs_of_seconds_are_named(tmp_path: Path, clocks: object) -> None:
    (source,) = discover([driven(tmp_path / "s", clocks=clocks)]).sources
    with pytest.raises(InputError, match=r"session\.json has clocks that are no list of pairs of seconds"):
        load(source)


@pytest.mark.parametrize("text", ["[]", "{}", "5", "[" * 100_000])
def test_a_session_that_is_none_of_the_drivers_says_what_it_lacks(tmp_path: Path, text: str) -> None:
    driven(tmp_path / "s")
    (tmp_path / "s" / "session.json").write_text(text)
    (rejected,) = discover([tmp_path]).rejected
    assert rejected.reason == "session.json is none of the driver's: no JSON object with id and scenario"


@pytest.mark.parametrize(("late_ms", "lines"), [(None, 0), (20.0, 0), (20.1, 1), ("late", 0)])
def test_a_driver_that_was_late_is_said_where_its_timing_is_scored(
    tmp_path: Path, late_ms: object, lines: int
) -> None:
    folder = driven(tmp_path / "s", live={"send_late_p99_ms": late_ms})
    out = tmp_path / "out"
    assert main([str(folder), "-o", str(out), "--activity", "energy", "--no-report", "--quiet"]) == 0
    result = load_conversation((out / "conversations" / "s-1.json").read_text())
    late = [line for line in result.warnings if line.startswith("the driver's frames left late (p99 20 ms,")]
    assert len(late) == lines


def test_a_link_to_a_folder_above_is_not_followed_for_ever(tmp_path: Path) -> None:
    sound(tmp_path / "in" / "a.wav")
    (tmp_path / "in" / "again").symlink_to(tmp_path / "in")
    found = discover([tmp_path / "in"])
    assert [source.id for source in found.sources] == ["a"]
    assert [r.reason for r in found.rejected] == ["is a link to a folder that it lies in"]


def test_no_two_inputs_share_a_result_however_they_are_named(tmp_path: Path) -> None:
    for name in ("x/a.wav", "x/a.flac", "y/x-a.wav", "y/x-a-2.wav", "z/x/a.wav"):
        sound(tmp_path / name)
    names = [source.id for source in discover([tmp_path]).sources]
    assert len(set(names)) == len(names) == 5


@pytest.mark.parametrize("text", ["[0.1, NaN]", "[Infinity]", "{}5"])
def test_human_offsets_are_finite(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (tmp_path / "human.json").write_text(text)
    path = sound(tmp_path / "a.wav")
    assert main([str(path), "-o", str(tmp_path / "out"), "--human", str(tmp_path / "human.json")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
