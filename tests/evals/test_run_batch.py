"""Every attempt is counted, no failure is lost, and what is there is not done again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import soundfile

from duet_client.errors import CommandError
from evals.driver.cues import Timing
from evals.driver.ledger import Ledger
from evals.driver.settings import Plan, RunSettings
from tests.evals.scripted_agent import Agent
from tests.evals.scripted_runs import HEAD, QUESTION, have, plans, session


def takes(folder: Path, count: int, **settings: Any) -> list[Plan]:
    return plans(folder, HEAD + QUESTION, takes=count, **settings)


def counts(report: dict[str, Any]) -> dict[str, int]:
    return {name: count for name, count in report["counts"].items() if count}


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_take_k_has_the_seed_that_is_k_less_one_higher(tmp_path: Path) -> None:
    agent = Agent()
    have(agent, takes(tmp_path, 3, seed=40), tmp_path / "out")
    assert agent.seeds == [40, 41, 42]


def test_no_more_conversations_go_on_at_once_than_asked_for(tmp_path: Path) -> None:
    agent = Agent()
    report = have(agent, takes(tmp_path, 6), tmp_path / "out", at_once=3)
    assert agent.most_at_once == 3
    assert counts(report) == {"planned": 6, "completed": 6, "attempts": 6}


def test_a_lost_connection_is_a_failure_with_its_reason_and_what_there_was_is_kept(tmp_path: Path) -> None:
    report = have(Agent(vanish_at=10), takes(tmp_path, 1), tmp_path / "out")
    assert counts(report) == {"planned": 1, "failed": 1, "attempts": 1, "failed_attempts": 1}
    assert report["conversations"][0]["error"].startswith("the connection ended before session.closed")
    folder = tmp_path / "out" / "staged" / "staged-01"
    assert files(folder) == ["arrivals.jsonl", "partial.wav", "session.json"]
    assert soundfile.info(folder / "partial.wav").frames == 10 * 1920


def test_one_failure_leaves_the_others_alone(tmp_path: Path) -> None:
    report = have(Agent(vanish_at=10, bad_calls=1), takes(tmp_path, 3), tmp_path / "out")
    assert [each["status"] for each in report["conversations"]] == ["failed", "completed", "completed"]


def test_a_full_server_is_a_failure_too(tmp_path: Path) -> None:
    report = have(Agent(full=True), takes(tmp_path, 2), tmp_path / "out")
    assert counts(report) == {"planned": 2, "failed": 2, "attempts": 2, "failed_attempts": 2}
    assert report["conversations"][1]["error"] == "all 1 places are taken"


def test_a_server_that_says_nothing_any_more_is_counted_as_stalled(tmp_path: Path) -> None:
    report = have(Agent(mute_at=5), takes(tmp_path, 1, stall_s=1.0), tmp_path / "out")
    assert counts(report)["stalled_attempts"] == 1
    assert report["conversations"][0]["error"] == "stalled: the server said nothing for 1 s"


def test_a_conversation_beyond_its_limit_has_timed_out_and_keeps_its_recording(tmp_path: Path) -> None:
    report = have(Agent(), plans(tmp_path, "limit_s = 2.0\n" + HEAD + QUESTION), tmp_path / "out")
    assert counts(report) == {"planned": 1, "timed_out": 1, "attempts": 1}
    assert "conversation.wav" in files(tmp_path / "out" / "staged" / "staged-01")


def test_a_second_run_tries_only_what_failed_and_counts_both_attempts(tmp_path: Path) -> None:
    have(Agent(vanish_at=10, bad_calls=1), takes(tmp_path, 3), tmp_path / "out")
    kept = tmp_path / "out" / "staged" / "staged-02" / "session.json"
    before = kept.stat().st_mtime_ns
    agent = Agent()
    report = have(agent, takes(tmp_path, 3), tmp_path / "out")
    assert agent.seeds == [0]
    assert counts(report) == {"planned": 3, "completed": 3, "attempts": 4, "failed_attempts": 1}
    assert session(tmp_path / "out")["failures"] == ["the connection ended before session.closed (code 1006)"]
    assert kept.stat().st_mtime_ns == before


def test_more_takes_later_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    have(Agent(), takes(tmp_path, 1), tmp_path / "out")
    agent = Agent()
    report = have(agent, takes(tmp_path, 2), tmp_path / "out")
    assert agent.seeds == [1]
    assert counts(report) == {"planned": 2, "completed": 2, "attempts": 2}


def test_a_changed_scenario_is_had_again(tmp_path: Path) -> None:
    have(Agent(), takes(tmp_path, 1), tmp_path / "out")
    agent = Agent()
    have(agent, plans(tmp_path, HEAD + QUESTION.replace("0.0", "0.5")), tmp_path / "out")
    assert agent.seeds == [0]
    assert session(tmp_path / "out")["annotations"][0]["start"] == 2.0


def test_a_conversation_cut_off_in_the_middle_of_writing_is_had_again(tmp_path: Path) -> None:
    have(Agent(), takes(tmp_path, 1), tmp_path / "out")
    folder = tmp_path / "out" / "staged" / "staged-01"
    folder.rename(folder.with_name(".staged-01.partial"))
    agent = Agent()
    report = have(agent, takes(tmp_path, 1), tmp_path / "out")
    assert (agent.seeds, counts(report)["completed"]) == ([0], 1)
    assert files(tmp_path / "out" / "staged") == ["staged-01"]


def test_another_scenario_into_the_same_folder_does_not_push_the_first_out_of_the_books(
    tmp_path: Path,
) -> None:
    have(Agent(vanish_at=10), takes(tmp_path, 1), tmp_path / "out")
    other = plans(tmp_path, HEAD + QUESTION, seed=0)
    renamed = [replace(each, scenario=replace(each.scenario, name="other")) for each in other]
    report = have(Agent(), renamed, tmp_path / "out")
    assert counts(report) == {
        "planned": 2, "completed": 1, "failed": 1, "attempts": 2, "failed_attempts": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (RunSettings(seed=7, pace="lockstep"), "holds a run with seed 0, not 7: choose another -o"),
        (RunSettings(pace="realtime"), "holds a run with pace lockstep, not realtime"),
        (
            RunSettings(pace="lockstep", timing=Timing(tail_s=20)),
            "holds a run with timing.tail_s None, not 20",
        ),
    ],
)
def test_one_folder_holds_one_run(tmp_path: Path, settings: RunSettings, said: str) -> None:
    have(Agent(), takes(tmp_path, 1), tmp_path / "out")
    with pytest.raises(CommandError) as refused:
        Ledger(tmp_path / "out", settings, None, {})
    assert said in str(refused.value)


def test_one_folder_holds_one_model(tmp_path: Path) -> None:
    have(Agent(), takes(tmp_path, 1), tmp_path / "out")
    with pytest.raises(CommandError, match="holds a run with model None, not moshiko"):
        Ledger(tmp_path / "out", RunSettings(pace="lockstep"), None, {"model": "moshiko"})


def test_a_folder_with_another_run_json_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"format": "else"}))
    with pytest.raises(CommandError, match="is no duet-run of version 1"):
        Ledger(tmp_path, RunSettings(), None, {})
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(CommandError, match="cannot read"):
        Ledger(tmp_path, RunSettings(), None, {})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"takes": 0}, "takes must be from 1 to 1000, not 0"),
        ({"playout_lead_s": float("nan")}, "playout_lead_s must be from 0 to 2, not nan"),
        ({"timing": Timing(tail_s=-1.0)}, "tail_s must be from 0 to 120, not -1"),
        ({"timing": Timing(agent_threshold_dbfs=3.0)}, "agent_threshold_dbfs must be from -90 to 0, not 3"),
    ],
)
def test_a_setting_out_of_range_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        RunSettings(**given)
