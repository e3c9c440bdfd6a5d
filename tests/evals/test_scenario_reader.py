"""Scenario files: what they mean, and that every mistake is one clear line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from evals.scenario_fields import ScenarioError
from evals.scenario_reader import find_scenarios, load_scenario
from tests.evals.staging import named_scenario, scenario, silence, tone, write_clip

GOOD = """
behaviour = "user_interruption"
[[say]]
id = "question"
clip = "question.wav"
at_s = 0.5
[[say]]
id = "stop"
clip = "stop.wav"
event = "interruption"
when = "agent_speaks"
for_s = 1.0
after = "question"
"""


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(ScenarioError) as refused:
        scenario(folder, text, question=0.5, stop=0.2)
    return str(refused.value)


def test_a_scenario_says_what_it_leaves_out_by_its_defaults(tmp_path: Path) -> None:
    staged = scenario(tmp_path, GOOD, question=0.5, stop=0.2)
    assert (staged.name, staged.lead_in_s, staged.tail_s, staged.limit_s) == ("staged", 1.0, 12.0, 120.0)
    question, stop = staged.says
    assert (question.event, question.expected, question.at_s) == ("turn", "respond", 0.5)
    assert (stop.timeout_s, stop.on_timeout, stop.gain_db) == (10.0, "skip", 0.0)
    assert len(stop.clip.pcm) == 4800


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('"user_interruption"', '"barge_in"', 'behaviour must be one of pause_handling, backchannel,'),
        ('behaviour = "user_interruption"', "", "behaviour is missing: one of pause_handling,"),
        ("at_s = 0.5", 'at_s = "0.5"', 'say[1].at_s must be a number from 0 to 3600, not "0.5"'),
        ("at_s = 0.5", "at_s = nan", "say[1].at_s must be a number from 0 to 3600, not nan"),
        ("at_s = 0.5", "at_s = true", "say[1].at_s must be a number from 0 to 3600, not true"),
        ("at_s = 0.5", "at_s = -1", "say[1].at_s must be a number from 0 to 3600, not -1"),
        ("at_s = 0.5", "", "say[1].at_s is missing: say at_s, after or when, one of them"),
        ("at_s = 0.5", "at = 0.5", "say[1].at is no key of a scenario; allowed here: id, clip, at_s,"),
        ("for_s = 1.0", "for_s = 1.0\nat_s = 2", "say[2].at_s stands against when: only one of them"),
        ("for_s = 1.0", "", "say[2].for_s is missing: for how long, in seconds, agent_speaks must hold"),
        ("for_s = 1.0", "for_s = 0", "say[2].for_s must be a number from 0.05 to 60, not 0"),
        ("at_s = 0.5", "at_s = 0.5\nfor_s = 1", "say[1].for_s needs when, one of agent_speaks, agent_silent"),
        ("at_s = 0.5", "at_s = 0.5\ndelay_s = 1", "say[1].delay_s needs after or when"),
        ("for_s = 1.0", 'for_s = 1.0\non_timeout = "fail"', "on_timeout must be one of skip, say, stop"),
        ('"agent_speaks"', '"agent_sings"', "say[2].when must be one of agent_speaks, agent_silent,"),
        ('after = "question"', 'after = "stop"', 'must be the id of a [[say]] above (question), not "stop"'),
        ('id = "stop"', 'id = "question"', 'say[2].id is taken: there is another "question" above'),
        ('id = "stop"', 'id = "Stop it"', "say[2].id must be a name of lower-case letters, digits, - and _"),
        ('"interruption"', '"cough"', "say[2].event must be one of turn, interruption, backchannel,"),
        ("for_s = 1.0", 'for_s = 1.0\ncontinues = "question"', 'continues needs event = "turn"'),
        ("at_s = 0.5", "at_s = 0.5\npauses_s = [[0.1, 0.9]]", "must lie inside the clip (0 to 0.500 s)"),
        ("at_s = 0.5", "at_s = 0.5\npauses_s = [0.1]", "pauses_s must be pairs [start, end] of seconds"),
        ("at_s = 0.5", "at_s = 0.5\nloud = true", "loud is no key of a scenario; allowed here: id, clip"),
        ("[[say]]", "[say]", "is no TOML"),
        ("at_s = 0.5", "at_s = ", "is no TOML"),
        ('"question.wav"', '"gone.wav"', "say[1].clip cannot be played: cannot read"),
        ("at_s = 0.5", "at_s = 0.5\nchannel = 3", "say[1].clip cannot be played:"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_the_file_the_key_and_what_is_allowed(
    tmp_path: Path, old: str, new: str, line: str
) -> None:
    assert old in GOOD
    said = refusal(tmp_path, GOOD.replace(old, new, 1))
    assert said.startswith(f"{tmp_path / 'staged.toml'}: ")
    assert line in said
    assert "\n" not in said


def test_a_scenario_without_anything_to_say_is_none(tmp_path: Path) -> None:
    assert "say must be one or more [[say]] tables" in refusal(tmp_path, 'behaviour = "other"')
    assert "say must be one or more [[say]] tables" in refusal(tmp_path, 'behaviour = "other"\nsay = []')


def test_a_clip_of_another_rate_plays_at_its_own_speed(tmp_path: Path) -> None:
    write_clip(tmp_path / "stop.wav", tone(0.2))
    write_clip(tmp_path / "question.wav", tone(0.5)[::3], rate=8_000)
    (tmp_path / "staged.toml").write_text(GOOD)
    assert len(load_scenario(tmp_path / "staged.toml").says[0].clip.pcm) == 12_000


def test_a_clip_of_two_channels_needs_to_be_told_which(tmp_path: Path) -> None:
    both = np.stack([tone(0.5), silence(0.5)], axis=1)
    soundfile.write(tmp_path / "both.wav", both, 24_000, subtype="PCM_16")
    text = GOOD.replace("question.wav", "both.wav")
    assert "say[1].clip has 2 channels: say which with channel (0 to 1)" in refusal(tmp_path, text)
    assert "say[1].clip is nothing but silence" in refusal(
        tmp_path, text.replace("at_s", "channel = 1\nat_s")
    )
    chosen = scenario(tmp_path, text.replace("at_s", "channel = 0\nat_s"), stop=0.2)
    assert len(chosen.says[0].clip.pcm) == 12_000


def test_another_clip_behind_the_same_text_is_another_scenario(tmp_path: Path) -> None:
    first = scenario(tmp_path, GOOD, question=0.5, stop=0.2)
    assert scenario(tmp_path, GOOD, question=0.5, stop=0.2).sha256 == first.sha256
    assert scenario(tmp_path, GOOD, question=0.5, stop=0.3).sha256 != first.sha256


def test_a_comment_in_a_scenario_is_no_other_scenario_and_another_time_is(tmp_path: Path) -> None:
    first = scenario(tmp_path, GOOD, question=0.5, stop=0.2)
    commented = scenario(tmp_path, "# a note\n" + GOOD + 'on_timeout = "skip"\n')
    assert commented.sha256 == first.sha256
    assert scenario(tmp_path, GOOD.replace("0.5", "0.6")).sha256 != first.sha256
    assert scenario(tmp_path, "tail_s = 3.0\n" + GOOD).sha256 != first.sha256


def test_a_folder_is_searched_to_the_bottom_and_names_must_differ(tmp_path: Path) -> None:
    for place in ("b", "a/deep"):
        (tmp_path / place).mkdir(parents=True)
    named_scenario(tmp_path / "b", "one", GOOD, question=0.5, stop=0.2)
    named_scenario(tmp_path / "a/deep", "two", GOOD, question=0.5, stop=0.2)
    assert [found.name for found in find_scenarios([tmp_path])] == ["one", "two"]
    assert [found.name for found in find_scenarios([tmp_path, tmp_path / "b/one.toml"])] == ["one", "two"]
    named_scenario(tmp_path / "a", "one", GOOD, question=0.5, stop=0.2)
    with pytest.raises(ScenarioError, match="another scenario has the same name"):
        find_scenarios([tmp_path])


def test_nothing_to_play_is_said(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="no scenario: give TOML files"):
        find_scenarios([tmp_path])
    with pytest.raises(ScenarioError, match="there is no such file or folder"):
        find_scenarios([tmp_path / "gone"])
