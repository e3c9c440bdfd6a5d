"""Folders and files of every known layout become conversations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from audio.frame_flags import FrameFlags
from audio.recording import RecordingWriter
from evals.conversation import RATE, Conversation, InputError
from evals.intervals import Interval
from evals.readers.audio import equalled, read_sound
from evals.readers.discover import discover
from evals.readers.sources import Source, load, safe_id
from evals.results import Rejected


def tone(path: Path, seconds: float, channels: int = 1, rate: int = RATE, **more: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = np.full((round(seconds * rate), channels), 0.1, np.float32)
    soundfile.write(path, samples, rate, **more)
    return path


def put(path: Path, data: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return path


def only(path: Path) -> Conversation:
    found = discover([path])
    assert found.rejected == ()
    assert len(found.sources) == 1
    return load(found.sources[0])


CHUNKS = {"text": "yes", "chunks": [{"text": "yes", "timestamp": [0.5, 0.9]}]}


def test_a_recording_of_the_server_brings_its_metadata(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path, "call", {"model": "m"}, "flac")
    user, agent = np.full(1920, 0.1, np.float32), np.full(1920, -0.1, np.float32)
    for flags in (FrameFlags(0), FrameFlags.SILENCE_FED):
        writer.write(user, agent, flags)
    path = writer.finish("close_requested", {})
    put(tmp_path / "call.words.json", {"words": {"user": [{"word": "hm", "start": 0.0, "end": 0.1}]}})
    talk = only(path)
    assert (talk.origin, talk.metadata["model"], talk.metadata["reason"]) == (
        "server_out",
        "m",
        "close_requested",
    )
    assert (talk.user[0], talk.agent[0]) == pytest.approx((0.1, -0.1), abs=1e-3)
    assert talk.warnings == ("1 of 2 frames are flagged SILENCE_FED",)
    assert [w.text for w in talk.words["user"]] == ["hm"]


def test_a_conversation_of_the_driver_brings_its_annotations(tmp_path: Path) -> None:
    folder = tmp_path / "pause" / "1"
    for name, channels in (("conversation", 2), ("input", 1), ("output", 1)):
        tone(folder / f"{name}.wav", 2, channels)
    notes = [
        {"type": "pause", "start": 0.5, "end": 1.0, "expected": "wait", "cue": "a", "staged": True},
        {"type": "turn_end", "start": 1.5, "end": 1.5, "expected": "respond", "staged": False},
    ]
    words = {"agent": [{"word": "hi", "start": 0.1, "end": 0.3}]}
    session = {"id": "1", "scenario": "pause", "status": "completed", "origin": "ear", "annotations": notes}
    put(folder / "session.json", session | {"words": words})
    talk = only(tmp_path)
    assert (talk.id, talk.origin) == ("pause-1", "ear")
    assert [(a.type, a.span, a.expected) for a in talk.annotations] == [("pause", Interval(0.5, 1.0), "wait")]
    assert "user" not in talk.words
    put(folder / "session.json", session | {"status": "timed_out", "error": "it took too long"})
    assert only(tmp_path).warnings == ("the conversation timed_out: it took too long",)


def test_a_conversation_that_failed_is_rejected_and_not_forgotten(tmp_path: Path) -> None:
    put(tmp_path / "s" / "1" / "session.json", {"id": "1", "scenario": "s", "error": "refused"})
    tone(tmp_path / "s" / "1" / "partial.wav", 1, 2)
    found = discover([tmp_path])
    assert found.rejected == (Rejected(str(tmp_path / "s" / "1"), "the conversation failed: refused"),)


def test_a_folder_of_the_benchmarks_first_version(tmp_path: Path) -> None:
    folder = tmp_path / "user_interruption" / "7"
    tone(folder / "input.wav", 2), tone(folder / "output.wav", 2), tone(folder / "context.wav", 1)
    put(folder / "output.json", CHUNKS)
    put(folder / "interrupt.json", [{"context": "a", "interrupt": "b", "timestamp": [0.5, 1.5]}])
    talk = only(tmp_path)
    assert talk.id == "7"
    assert [w.text for w in talk.words["agent"]] == ["yes"]
    assert [(a.type, a.span, a.text) for a in talk.annotations] == [("interruption", Interval(0.5, 1.5), "b")]


def test_a_turns_end_is_where_the_benchmarks_stretch_begins(tmp_path: Path) -> None:
    tone(tmp_path / "1" / "input.wav", 2), tone(tmp_path / "1" / "output.wav", 2)
    put(tmp_path / "1" / "turn_taking.json", [{"text": "[TURN-TAKING]", "timestamp": [1.2, 1.6]}])
    assert [(a.type, a.span) for a in only(tmp_path).annotations] == [("turn_end", Interval(1.2, 1.2))]


def test_version_one_and_a_half_has_a_twin_without_overlap(tmp_path: Path) -> None:
    folder = tmp_path / "talking_to_other" / "3"
    for name in ("input", "output", "clean_input", "clean_output"):
        tone(folder / f"{name}.wav", 2)
    put(folder / "metadata.json", {"context_text": "", "current_turn_text": "psst", "timestamps": [0.5, 1.0]})
    put(folder / "clean_output.json", CHUNKS)
    found = discover([tmp_path])
    assert [s.id for s in found.sources] == ["3", "3-clean"]
    noisy, clean = map(load, found.sources)
    assert [(a.type, a.text) for a in noisy.annotations] == [("talk_to_other", "psst")]
    assert (clean.annotations, [w.text for w in clean.words["agent"]]) == ((), ["yes"])


def test_metadata_outside_the_four_subsets_annotates_nothing_and_says_so(tmp_path: Path) -> None:
    tone(tmp_path / "3" / "input.wav", 2), tone(tmp_path / "3" / "output.wav", 2)
    put(tmp_path / "3" / "metadata.json", {"timestamps": [0.5, 1.0]})
    talk = only(tmp_path)
    assert talk.annotations == ()
    assert talk.warnings[0].startswith("metadata.json lies in none of the folders user_interruption, ")


def test_a_pair_of_the_second_version_is_user_and_agent(tmp_path: Path) -> None:
    tone(tmp_path / "d" / "A.wav", 2, rate=48_000), tone(tmp_path / "d" / "B.wav", 2, rate=48_000)
    tone(tmp_path / "d" / "combined.wav", 2, 2, rate=48_000)
    put(tmp_path / "d" / "A.json", CHUNKS), put(tmp_path / "d" / "B.json", {"text": "", "chunks": []})
    talk = only(tmp_path)
    assert ([w.text for w in talk.words["user"]], talk.words["agent"]) == (["yes"], ())
    assert len(talk.user) == 2 * RATE


def test_everything_beside_a_file_is_used(tmp_path: Path) -> None:
    path = tone(tmp_path / "a.wav", 3, 2)
    (tmp_path / "a.ctm").write_text("a 1 0.5 0.2 hello 0.9\na 2 1.0 0.2 there\n")
    (tmp_path / "a.rttm").write_text("SPEAKER a 1 0.5 1.0 <NA> <NA> user <NA> <NA>\n")
    put(tmp_path / "a.annotations.json", [{"type": "tic", "start": 1.0, "end": 1.5}])
    put(tmp_path / "a.reference.json", {"agent": "over there"})
    (tmp_path / "a.log.jsonl").write_text(
        '{"type": "speech", "channel": "agent", "start": 1.0, "end": 1.2}\n'
        '{"type": "response", "user_end": 0.7, "latency": 0.3}\n'
    )
    talk = only(path)
    assert [w.text for w in (*talk.words["user"], *talk.words["agent"])] == ["hello", "there"]
    assert talk.activity == {"user": (Interval(0.5, 1.5),), "agent": (Interval(1.0, 1.2),)}
    assert (talk.reference["agent"], talk.annotations[0].type, talk.log[0].latency_s) == (
        "over there",
        "tic",
        0.3,
    )
    assert talk.warnings == ()


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.json", "{", "a.json is not JSON: "),
        ("a.annotations.json", '[{"type": "burp", "start": 1}]', "annotation type must be one of turn_end, "),
        ("a.annotations.json", '[{"start": 1}]', "a.annotations.json has an annotation without 'type'"),
        ("a.annotations.json", '[{"type": "tic", "start": 2, "end": 1}]', "cannot end before it starts"),
        ("a.log.jsonl", "{}\n", "a.log.jsonl line 1 is no event of a log"),
        ("a.reference.json", "[1]", "a.reference.json must be an object of channel and script"),
        ("a.words.json", '{"words": [{"word": "a", "start": 0, "end": 1}]}', "does not say which"),
        ("a.ctm", "a 1 x\n", "a.ctm line 1 is no CTM"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_the_sound_is_scored(
    tmp_path: Path, name: str, text: str, line: str
) -> None:
    path = tone(tmp_path / "a.wav", 1, 2)
    (tmp_path / name).write_text(text)
    talk = only(path)
    assert len(talk.warnings) == 1
    assert line in talk.warnings[0]
    assert talk.warnings[0].endswith(": left out")


def test_a_file_given_twice_is_scored_once(tmp_path: Path) -> None:
    path = tone(tmp_path / "a.wav", 1, 2)
    found = discover([path, tmp_path])
    assert len(found.sources) == 1
    assert found.notes == (f"{path}: is given twice: scored once",)


def test_results_of_an_earlier_run_are_no_input(tmp_path: Path) -> None:
    tone(tmp_path / "a.wav", 1, 2)
    put(tmp_path / "conversations" / "a.json", {}), put(tmp_path / "metrics.json", {})
    tone(tmp_path / "conversations" / "b.wav", 1, 2)
    assert [s.id for s in discover([tmp_path]).sources] == ["a"]


def test_an_empty_folder_holds_no_conversation(tmp_path: Path) -> None:
    assert discover([tmp_path]).rejected[0].reason.startswith("holds no conversation")


@pytest.mark.parametrize(("missing", "lines"), [(1920, 0), (1921, 1)])
def test_a_difference_of_one_frame_is_no_fault(missing: int, lines: int) -> None:
    one, two = np.ones(RATE, np.float32), np.ones(RATE - missing, np.float32)
    user, agent, notes = equalled(one, two)
    assert (len(user), len(agent), agent[-1], len(notes)) == (RATE, RATE, 0.0, lines)


def test_a_wav_whose_recorder_could_not_go_back_is_whole(tmp_path: Path) -> None:
    data = bytearray(tone(tmp_path / "a.wav", 1, 2, subtype="PCM_16").read_bytes())
    data[40:44] = b"\xff\xff\xff\xff"
    (tmp_path / "a.wav").write_bytes(data)
    assert read_sound(tmp_path / "a.wav").samples.shape == (2, RATE)


@pytest.mark.parametrize(("format_", "subtype"), [("RF64", "PCM_16"), ("FLAC", "PCM_24"), ("OGG", "VORBIS")])
def test_other_containers_are_read(tmp_path: Path, format_: str, subtype: str) -> None:
    path = tone(tmp_path / "a.snd", 1, 2, format=format_, subtype=subtype)
    assert read_sound(path).samples.shape == (2, RATE)


def test_three_channels_are_no_conversation(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has 3 channels: a conversation needs two"):
        load(Source("a", "stereo", tone(tmp_path / "a.wav", 1, 3)))


def test_an_id_is_a_file_name() -> None:
    assert safe_id("../a b/ü?.x") == "a_b_ü_.x"
    assert safe_id("///") == "conversation"
