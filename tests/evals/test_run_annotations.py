"""What a conversation staged, as it is told to the scorer."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.driver.annotations import Annotation, annotate
from evals.driver.cues import CueEngine
from tests.evals.staging import scenario, silence, tone, write_clip

HEAD = 'behaviour = "other"\nlead_in_s = 0.0\ntail_s = 0.5\n'
FIRST = '[[say]]\nid = "first"\nclip = "first.wav"\ntext = "I mean"\nat_s = 1.0\n'


def staged(folder: Path, text: str, end_s: float = 60.0, **clips: float) -> list[Annotation]:
    """What is told of a scenario that meets a silent agent."""
    engine = CueEngine(scenario(folder, HEAD + text, **clips))
    while not engine.done:
        engine.step(silence(0.08))
    return annotate(engine.cues, round(end_s * 24_000))


def spans(notes: list[Annotation]) -> list[tuple[str, float, float, str]]:
    return [(note.type, round(note.start, 6), round(note.end, 6), note.expected) for note in notes]


def test_a_turn_is_told_by_its_end(tmp_path: Path) -> None:
    (note,) = staged(tmp_path, FIRST, first=2.0)
    assert (note.type, note.start, note.end, note.expected) == ("turn_end", 3.0, 3.0, "respond")
    assert (note.cue, note.text, note.channel) == ("first", "I mean", "user")


def test_the_silence_around_a_clips_sound_is_no_part_of_the_event(tmp_path: Path) -> None:
    write_clip(tmp_path / "noise.wav", silence(0.57), tone(0.8), silence(0.3))
    text = '[[say]]\nclip = "noise.wav"\nevent = "background"\nat_s = 2.0\n'
    assert spans(staged(tmp_path, text)) == [("background", 2.57, 3.37, "resume")]


def test_a_turn_that_goes_on_after_a_silence_is_one_turn_with_a_pause(tmp_path: Path) -> None:
    second = '[[say]]\nclip = "second.wav"\nafter = "first"\ndelay_s = 0.7\ncontinues = "first"\n'
    assert spans(staged(tmp_path, FIRST + second, first=1.0, second=1.5)) == [
        ("pause", 2.0, 2.7, "wait"),
        ("turn_end", 4.2, 4.2, "respond"),
    ]


def test_pauses_inside_a_clip_are_moved_to_where_it_is_said(tmp_path: Path) -> None:
    text = FIRST + "pauses_s = [[0.5, 1.1]]\n"
    assert spans(staged(tmp_path, text, first=2.0))[0] == ("pause", 1.5, 2.1, "wait")


def test_an_interruption_is_a_turn_too(tmp_path: Path) -> None:
    text = FIRST + '[[say]]\nclip = "stop.wav"\nevent = "interruption"\nat_s = 5.0\n'
    assert spans(staged(tmp_path, text, first=1.0, stop=0.5)) == [
        ("turn_end", 2.0, 2.0, "respond"),
        ("interruption", 5.0, 5.5, "respond"),
        ("turn_end", 5.5, 5.5, "respond"),
    ]


def test_without_an_agent_to_interrupt_there_was_no_interruption(tmp_path: Path) -> None:
    stop = '[[say]]\nclip = "stop.wav"\nevent = "interruption"\nafter = "first"\nwhen = "agent_speaks"\n'
    stop += 'for_s = 1.0\ntimeout_s = 2.0\non_timeout = "say"\n'
    assert spans(staged(tmp_path, FIRST + stop, first=1.0, stop=0.5)) == [
        ("turn_end", 2.0, 2.0, "respond"),
        ("turn_end", 4.5, 4.5, "respond"),
    ]


def test_a_scenario_may_expect_something_else(tmp_path: Path) -> None:
    text = '[[say]]\nclip = "uhu.wav"\nevent = "backchannel"\nexpected = "wait"\nat_s = 0.5\n'
    assert spans(staged(tmp_path, text, uhu=0.4)) == [("backchannel", 0.5, 0.9, "wait")]


@pytest.mark.parametrize(
    ("end_s", "told"),
    [
        (5.6, ["turn_end", "interruption", "turn_end"]),
        (5.3, ["turn_end", "interruption"]),
        (4.9, ["turn_end"]),
    ],
)
def test_only_what_is_in_the_recording_is_told(tmp_path: Path, end_s: float, told: list[str]) -> None:
    text = FIRST + '[[say]]\nclip = "stop.wav"\nevent = "interruption"\nat_s = 5.0\n'
    notes = staged(tmp_path, text, end_s, first=1.0, stop=0.5)
    assert [note.type for note in notes] == told
    assert all(note.end <= end_s for note in notes)
