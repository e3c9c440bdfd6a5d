"""What the user says and when: frames of the agent into the cue engine, frames of the user out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from audio.frames import FRAME_SAMPLES
from evals.driver.cues import Cue, CueEngine, State, Timing
from tests.evals.staging import RATE, scenario, silence, tone

HEAD = 'behaviour = "other"\nlead_in_s = 0.5\ntail_s = 1.0\n'
QUESTION = '[[say]]\nid = "question"\nclip = "question.wav"\nat_s = 0.25\n'
NO_CHANGE = Timing()
BARGE_IN = '[[say]]\nid = "stop"\nclip = "stop.wav"\nafter = "question"\n'


def run(engine: CueEngine, *agent: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The user's channel while the agent is heard; afterwards the agent is silent to the end."""
    heard = np.concatenate([silence(0), *agent])
    said: list[npt.NDArray[np.float32]] = []
    while not engine.done:
        at = len(said) * FRAME_SAMPLES
        frame = np.zeros(FRAME_SAMPLES, np.float32)
        part = heard[at : at + FRAME_SAMPLES]
        frame[: len(part)] = part
        said.append(engine.step(frame))
    return np.concatenate(said)


def engine(folder: Path, text: str, timing: Timing = NO_CHANGE, **clips: float) -> CueEngine:
    return CueEngine(scenario(folder, HEAD + text, **{"question": 1.0, "stop": 0.5} | clips), timing)


def placed(cue: Cue) -> tuple[float, float]:
    return cue.start / RATE, cue.end / RATE


def test_a_clip_at_a_time_begins_at_that_very_sample(tmp_path: Path) -> None:
    cues = engine(tmp_path, QUESTION)
    said = run(cues)
    assert placed(cues.cues[0]) == (0.75, 1.75)
    loud = np.flatnonzero(said)
    assert loud[0] == 0.75 * RATE + 1  # a sine begins with a zero
    assert loud[-1] < 1.75 * RATE


def test_the_conversation_ends_one_tail_after_the_last_word(tmp_path: Path) -> None:
    said = run(engine(tmp_path, QUESTION))
    assert len(said) == 35 * FRAME_SAMPLES  # 2.75 s, to the end of that frame


def test_the_user_interrupts_when_the_agent_has_spoken_for_a_second(tmp_path: Path) -> None:
    text = QUESTION + BARGE_IN + 'when = "agent_speaks"\nfor_s = 1.0\n'
    cues = engine(tmp_path, text)
    run(cues, silence(2.4), tone(3.0))
    assert placed(cues.cues[1])[0] == pytest.approx(3.4)


def test_speech_before_the_cue_counts_does_not_count(tmp_path: Path) -> None:
    text = QUESTION + BARGE_IN + 'when = "agent_speaks"\nfor_s = 1.0\n'
    cues = engine(tmp_path, text)
    run(cues, tone(4.0))  # it speaks all through the question, which ends at 1.75
    assert placed(cues.cues[1])[0] == pytest.approx(2.75)


def test_a_delay_comes_on_top_of_the_condition(tmp_path: Path) -> None:
    text = QUESTION + BARGE_IN + 'when = "agent_speaks"\nfor_s = 0.5\ndelay_s = 0.3\n'
    cues = engine(tmp_path, text)
    run(cues, silence(2.0), tone(2.0))
    assert placed(cues.cues[1])[0] == pytest.approx(2.8)


def test_the_user_goes_on_when_the_agent_has_been_silent_for_two_seconds(tmp_path: Path) -> None:
    text = QUESTION + BARGE_IN + 'when = "agent_silent"\nfor_s = 2.0\n'
    cues = engine(tmp_path, text)
    run(cues, silence(2.0), tone(1.0))  # it spoke at 2.0 to 3.0
    assert placed(cues.cues[1])[0] == pytest.approx(5.0)


def test_silence_alone_is_no_finished_agent(tmp_path: Path) -> None:
    text = QUESTION + BARGE_IN + 'when = "agent_finished"\nfor_s = 0.4\ntimeout_s = 20.0\n'
    cues = engine(tmp_path, text)
    run(cues, silence(6.0), tone(1.0))
    assert placed(cues.cues[1])[0] == pytest.approx(7.4)


def test_a_clip_follows_another_to_the_sample(tmp_path: Path) -> None:
    cues = engine(tmp_path, QUESTION + BARGE_IN + "delay_s = 0.7\n")
    run(cues)
    assert placed(cues.cues[1])[0] == pytest.approx(1.75 + 0.7, abs=1e-9)


@pytest.mark.parametrize(
    ("on_timeout", "state", "stopped"),
    [
        ("skip", State.SKIPPED, None),
        ("say", State.DUE, None),
        ("stop", State.OVER, 'the cue of "stop" did not come within 3 s'),
    ],
)
def test_a_cue_that_does_not_come_is_skipped_or_said_or_ends_it(
    tmp_path: Path, on_timeout: str, state: State, stopped: str | None
) -> None:
    condition = 'when = "agent_speaks"\nfor_s = 1.0\ntimeout_s = 3.0\n'
    cues = engine(tmp_path, QUESTION + BARGE_IN + condition + f'on_timeout = "{on_timeout}"\n')
    run(cues, silence(2.0), tone(0.9))  # a tenth too short
    assert (cues.cues[1].state, cues.cues[1].timed_out, cues.stopped) == (state, True, stopped)
    if state is State.DUE:
        assert placed(cues.cues[1])[0] == pytest.approx(1.75 + 3.0)


def test_what_follows_a_skipped_clip_is_skipped_too(tmp_path: Path) -> None:
    text = QUESTION + BARGE_IN + 'when = "agent_speaks"\nfor_s = 1.0\ntimeout_s = 1.0\n'
    text += '[[say]]\nclip = "stop.wav"\nafter = "stop"\n'
    cues = engine(tmp_path, text)
    run(cues)
    assert [cue.state for cue in cues.cues] == [State.DUE, State.SKIPPED, State.SKIPPED]
    assert not cues.cues[2].timed_out


def test_a_conversation_that_takes_too_long_is_stopped_at_its_limit(tmp_path: Path) -> None:
    cues = engine(tmp_path, "limit_s = 2.0\n" + QUESTION + BARGE_IN + "delay_s = 5.0\n")
    said = run(cues)
    assert cues.stopped == "it took longer than its limit_s of 2 s"
    assert cues.cues[1].state is State.OVER
    assert len(said) == 25 * FRAME_SAMPLES


def test_the_users_clips_add_up_where_they_overlap(tmp_path: Path) -> None:
    noise = '[[say]]\nclip = "noise.wav"\nevent = "background"\nat_s = 0.0\ngain_db = -20.0\n'
    cues = engine(tmp_path, QUESTION + noise, noise=2.0)
    said = run(cues)
    levels = [float(np.abs(said[round(at * RATE) :][:480]).max()) for at in (0.6, 1.0)]
    assert levels == pytest.approx([0.03, 0.33], abs=0.002)
    assert cues.voice.clipped == 0


def test_samples_beyond_full_scale_are_cut_and_counted(tmp_path: Path) -> None:
    cues = engine(tmp_path, QUESTION.replace("at_s", "gain_db = 20.0\nat_s"))
    said = run(cues)
    assert float(np.abs(said).max()) <= 1.0
    assert cues.voice.clipped > 10_000


def test_the_scenario_waits_for_the_end_of_a_greeting(tmp_path: Path) -> None:
    cues = engine(tmp_path, QUESTION, Timing(greeting_wait_s=10.0))
    run(cues, silence(0.3), tone(1.7))  # the greeting ends at 2.0, and is over at 3.0
    assert placed(cues.cues[0])[0] == pytest.approx(3.25)


def test_a_greeting_without_end_is_waited_for_no_longer_than_asked(tmp_path: Path) -> None:
    cues = engine(tmp_path, QUESTION, Timing(greeting_wait_s=2.0))
    run(cues, tone(6.0))
    assert placed(cues.cues[0])[0] == pytest.approx(0.5 + 2.0 + 0.25)


def test_a_run_may_lengthen_lead_in_and_tail(tmp_path: Path) -> None:
    cues = engine(tmp_path, QUESTION, Timing(lead_in_s=5.0, tail_s=20.0))
    said = run(cues)
    assert placed(cues.cues[0])[0] == 5.25
    assert len(said) / RATE == pytest.approx(26.25, abs=0.08)
