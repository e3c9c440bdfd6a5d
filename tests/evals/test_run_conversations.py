"""Whole conversations with an agent on a script, over a real socket."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from evals.driver.playout import Playout
from evals.driver.settings import Plan
from tests.evals.scripted_agent import Agent
from tests.evals.scripted_runs import AGENT_SPEAKS, HEAD, QUESTION, STOP, have, plans, session


def interruption(folder: Path) -> list[Plan]:
    return plans(folder, HEAD + QUESTION + STOP + AGENT_SPEAKS)


def sound(samples: npt.NDArray[np.int16]) -> list[tuple[float, float]]:
    """Where a channel sounds, in seconds, gaps below 50 ms closed."""
    loud = np.flatnonzero(np.abs(samples.astype(int)) > 500) / 24_000
    edges = np.flatnonzero(np.diff(loud) > 0.05)
    starts = [loud[0], *loud[edges + 1]]
    ends = [*loud[edges], loud[-1]]
    return [(round(float(a), 2), round(float(b), 2)) for a, b in zip(starts, ends, strict=True)]


def channels(out: Path, ident: str = "staged-01") -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    samples, rate = soundfile.read(out / "staged" / ident / "conversation.wav", dtype="int16")
    assert rate == 24_000
    return samples[:, 0], samples[:, 1]


def test_a_barge_in_is_staged_and_the_stop_can_be_read_off_the_recording(tmp_path: Path) -> None:
    """The agent speaks from 2.40 of its stream, heard one frame and one lead later: 2.56. The user has the
    second it waits for at 3.56; the agent stops in the frame after it hears that, which is the one from
    3.52, and what it had sent by then is heard to 3.68."""
    report = have(Agent(speaks=((2.4, 9.0),), yields=True), interruption(tmp_path), tmp_path / "out")
    user, agent = channels(tmp_path / "out")
    assert sound(user) == [(0.5, 1.5), (3.56, 4.16)]
    assert sound(agent) == [(2.56, 3.68)]
    assert report["counts"]["completed"] == 1


def test_the_annotations_say_where_it_was_staged(tmp_path: Path) -> None:
    have(Agent(speaks=((2.4, 9.0),)), interruption(tmp_path), tmp_path / "out")
    told = [(note["type"], note["start"], note["end"]) for note in session(tmp_path / "out")["annotations"]]
    assert told == [("turn_end", 1.5, 1.5), ("interruption", 3.56, 4.16), ("turn_end", 4.16, 4.16)]


def test_both_mono_files_are_the_two_channels(tmp_path: Path) -> None:
    have(Agent(speaks=((2.4, 3.0),)), interruption(tmp_path), tmp_path / "out")
    folder = tmp_path / "out" / "staged" / "staged-01"
    for name, channel in zip(("input.wav", "output.wav"), channels(tmp_path / "out"), strict=True):
        assert np.array_equal(soundfile.read(folder / name, dtype="int16")[0], channel)


def test_the_agents_words_are_told_where_they_are_heard(tmp_path: Path) -> None:
    have(Agent(speaks=((2.4, 2.56),)), interruption(tmp_path), tmp_path / "out")
    assert session(tmp_path / "out")["words"]["agent"] == [
        {"word": "w31", "start": 2.56, "end": 2.64},
        {"word": "w32", "start": 2.64, "end": 2.72},
    ]


def test_an_agent_that_never_speaks_is_not_interrupted_and_that_is_told(tmp_path: Path) -> None:
    report = have(Agent(), interruption(tmp_path), tmp_path / "out")
    user, agent = channels(tmp_path / "out")
    assert sound(user) == [(0.5, 1.5)]
    assert not agent.any()
    assert [note["type"] for note in session(tmp_path / "out")["annotations"]] == ["turn_end"]
    assert (report["counts"]["completed"], report["counts"]["cue_timeouts"]) == (1, 1)


def test_a_user_can_wait_for_an_answer_and_go_on(tmp_path: Path) -> None:
    """The agent answers when it has heard 0.4 s of silence, for 2 s; the user says more 0.5 s later."""
    follow_up = STOP.replace('event = "interruption"\n', "") + 'when = "agent_finished"\nfor_s = 0.5\n'
    have(Agent(answers_after_s=0.4), plans(tmp_path, HEAD + QUESTION + follow_up), tmp_path / "out")
    user, agent = channels(tmp_path / "out")
    answered = sound(agent)[0]
    assert answered[1] - answered[0] == pytest.approx(2.0, abs=0.01)
    assert sound(user)[1][0] == pytest.approx(answered[1] + 0.5, abs=0.02)


def test_lockstep_needs_an_answer_to_every_frame(tmp_path: Path) -> None:
    planned = plans(tmp_path, HEAD + QUESTION, stall_s=1.0)
    report = have(Agent(mute_at=5), planned, tmp_path / "out")
    assert report["conversations"][0]["error"] == "stalled: the server said nothing for 1 s"


def test_in_lockstep_an_answer_is_heard_as_if_the_server_took_no_time(tmp_path: Path) -> None:
    have(Agent(), plans(tmp_path, HEAD + QUESTION), tmp_path / "out")
    told = session(tmp_path / "out")
    assert told["behind"] == {"p50_ms": 0.0, "p99_ms": 0.0, "max_ms": 0.0}
    assert (told["playout"]["gaps"], told["live"]) == (0, None)


def test_in_real_time_a_burst_is_heard_at_its_own_pace_and_the_arrivals_tell_where(tmp_path: Path) -> None:
    """Five frames at once every 400 ms: the player has each until the next five come."""
    planned = plans(tmp_path, HEAD + QUESTION, pace="realtime", playout_lead_s=0.2)
    have(Agent(speaks=((0.8, 1.2),), hoards=5), planned, tmp_path / "out")
    folder = tmp_path / "out" / "staged" / "staged-01"
    arrivals = [json.loads(line) for line in (folder / "arrivals.jsonl").read_text().splitlines()]
    audio = [arrival for arrival in arrivals if arrival["kind"] == "audio"]
    assert all(arrival["samples"] == 5 * 1920 for arrival in audio)
    _, agent = channels(tmp_path / "out")
    spoken = sound(agent)[0]
    assert spoken[1] - spoken[0] == pytest.approx(0.4, abs=0.01)
    playout = Playout(lead_s=0.2)
    again = [playout.push(each["arrival_s"], np.zeros(each["samples"], np.float32)) for each in audio]
    assert [piece.ear for piece in again] == pytest.approx([each["ear"] for each in audio], abs=1)
    assert spoken[0] == pytest.approx(audio[2]["ear"] / 24_000, abs=0.01)  # frames 11 to 15


def test_in_real_time_a_conversation_knows_its_server_and_how_late_it_sent(tmp_path: Path) -> None:
    have(Agent(), plans(tmp_path, HEAD + QUESTION, pace="realtime"), tmp_path / "out")
    told = session(tmp_path / "out")
    assert (told["pace"], told["origin"], told["live"]["session_id"]) == ("realtime", "ear", "sess_1")
    assert told["live"]["send_late_max_ms"] >= told["live"]["send_late_p99_ms"] >= 0
    assert told["behind"]["max_ms"] >= told["behind"]["p50_ms"] > 0
    assert told["duration_s"] == pytest.approx(3.04)  # 0.5 + 1.0 + 1.5, to the end of its frame
