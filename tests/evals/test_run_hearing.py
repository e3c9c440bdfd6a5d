"""Whether the agent speaks, told from what was heard so far."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from evals.driver.hearing import HOP_SAMPLES, Hearing, level_dbfs
from tests.evals.staging import silence, tone

RATE = 24_000


def hear(*parts: npt.NDArray[np.float32]) -> Hearing:
    hearing = Hearing()
    samples = np.concatenate(parts)
    for at in range(0, len(samples), HOP_SAMPLES):
        hearing.hear(samples[at : at + HOP_SAMPLES])
    return hearing


def seconds(samples: int) -> float:
    return samples / RATE


def test_speech_counts_from_its_first_hop() -> None:
    hearing = hear(silence(0.5), tone(0.7))
    assert seconds(hearing.spoke_for(0)) == pytest.approx(0.7)


def test_only_speech_after_the_cue_began_to_count_counts() -> None:
    assert seconds(hear(silence(0.5), tone(0.7)).spoke_for(since=round(1.0 * RATE))) == pytest.approx(0.2)


def test_a_breath_of_190_ms_does_not_end_speech_and_one_of_200_ms_does() -> None:
    assert seconds(hear(tone(0.5), silence(0.19), tone(0.3)).spoke_for(0)) == pytest.approx(0.99)
    assert seconds(hear(tone(0.5), silence(0.20), tone(0.3)).spoke_for(0)) == pytest.approx(0.3)


def test_an_agent_that_breathes_is_not_speaking_right_now() -> None:
    assert hear(tone(1.5), silence(0.05)).spoke_for(0) == 0


def test_a_click_of_40_ms_is_no_speech_and_one_of_50_ms_is() -> None:
    assert seconds(hear(silence(1), tone(0.04), silence(1)).silent_for(0)) == pytest.approx(2.04)
    assert seconds(hear(silence(1), tone(0.05), silence(1)).silent_for(0)) == pytest.approx(1.0)


def test_silence_counts_from_the_last_sound_or_from_the_cue() -> None:
    hearing = hear(tone(1), silence(0.6))
    assert seconds(hearing.silent_for(0)) == pytest.approx(0.6)
    assert seconds(hearing.silent_for(since=round(1.2 * RATE))) == pytest.approx(0.4)


def test_a_sound_below_minus_45_dbfs_is_not_heard() -> None:
    quiet, loud = (np.full(RATE, 10 ** (level / 20), np.float32) for level in (-45.5, -44.5))
    assert hear(quiet).speaking_since is None
    assert hear(loud).speaking_since == 0


def test_the_level_of_a_full_scale_square_wave_is_0_dbfs() -> None:
    assert level_dbfs(np.array([1, -1, 1, -1], np.float32)) == 0.0
    assert level_dbfs(np.zeros(240, np.float32)) == float("-inf")
