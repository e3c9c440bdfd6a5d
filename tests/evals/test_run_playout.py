"""When the agent's audio is heard: a jitter buffer, from arrival times alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, Samples
from evals.driver.playout import Playout


def frame(value: float) -> Samples:
    return np.full(FRAME_SAMPLES, value, np.float32)


def steps(samples: Samples) -> list[float]:
    """The value in the middle of each 80 ms."""
    return [float(value) for value in samples[FRAME_SAMPLES // 2 :: FRAME_SAMPLES]]


def test_a_steady_stream_is_heard_one_lead_after_it_came() -> None:
    playout = Playout(lead_s=0.08)
    for n in range(4):
        playout.push(0.08 * (n + 1), frame(n + 1))
    assert steps(playout.pull(6 * FRAME_SAMPLES)) == [0, 0, 1, 2, 3, 4]
    assert playout.gaps == 0


def test_jitter_below_the_lead_is_not_heard() -> None:
    playout = Playout(lead_s=0.08)
    for n, late in enumerate([0.0, 0.079, 0.02, 0.06]):
        playout.push(0.08 * (n + 1) + late, frame(n + 1))
    assert steps(playout.pull(6 * FRAME_SAMPLES)) == [0, 0, 1, 2, 3, 4]
    assert playout.gaps == 0


def test_a_burst_is_heard_at_its_own_pace() -> None:
    playout = Playout(lead_s=0.0)
    for n in range(3):
        playout.push(0.08, frame(n + 1))
    assert steps(playout.pull(4 * FRAME_SAMPLES)) == [0, 1, 2, 3]


def test_a_gap_in_what_came_is_silence_at_the_right_time() -> None:
    playout = Playout(lead_s=0.0)
    playout.push(0.08, frame(1))
    playout.push(0.40, frame(2))
    assert steps(playout.pull(6 * FRAME_SAMPLES)) == [0, 1, 0, 0, 0, 2]
    assert (playout.gaps, playout.gap_samples) == (1, 3 * FRAME_SAMPLES)


def test_an_agent_that_stopped_is_heard_until_its_queued_audio_is_over() -> None:
    playout = Playout(lead_s=0.0)
    for _ in range(10):  # 0.8 s of audio at 0.1 s
        playout.push(0.1, frame(1))
    heard = playout.pull(SAMPLE_RATE)
    assert np.flatnonzero(heard)[[0, -1]] == pytest.approx([0.1 * SAMPLE_RATE, 0.9 * SAMPLE_RATE - 1])


def test_a_moment_of_the_stream_is_found_where_it_is_heard() -> None:
    playout = Playout(lead_s=0.08)
    playout.push(1.0, frame(1))
    playout.push(3.0, frame(2))
    assert playout.ear_s(0.0) == pytest.approx(1.08)
    assert playout.ear_s(0.04) == pytest.approx(1.12)
    assert playout.ear_s(0.08) == pytest.approx(3.08)
    assert playout.ear_s(0.17) is None


ARRIVALS = st.lists(
    st.tuples(st.floats(0, 0.3), st.integers(1, 4000)), min_size=1, max_size=12
)  # (pause before, samples)


@given(ARRIVALS, st.floats(0, 0.2))
def test_what_is_heard_depends_on_the_arrivals_and_not_on_when_it_was_asked_for(
    arrivals: list[tuple[float, int]], lead_s: float
) -> None:
    """While it runs it is pulled every 80 ms; made again from arrivals.jsonl, at once."""
    live, again = Playout(lead_s), Playout(lead_s)
    now, heard, frames = 0.0, [], 0
    for n, (pause, samples) in enumerate(arrivals):
        now += pause
        while (frames + 1) * 0.08 <= now:
            frames += 1
            heard.append(live.pull(frames * FRAME_SAMPLES))
        piece = np.full(samples, n + 1, np.float32)
        assert live.push(now, piece) == again.push(now, piece)
    end = (frames + 20) * FRAME_SAMPLES
    heard.append(live.pull(end))
    assert np.array_equal(np.concatenate(heard), again.pull(end))
