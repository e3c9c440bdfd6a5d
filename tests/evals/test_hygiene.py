"""Faults put into the golden minute are found, and nothing else is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evals.conversation import RATE, Conversation, LoggedTurn
from evals.hygiene import correlation_lag, drift_ppm
from evals.metrics.logs import problem
from evals.results import ConversationResult
from tests.evals import golden

HOP = RATE // 100


def value(result: ConversationResult, name: str) -> float | None:
    return golden.metric(result, name).value


def test_the_users_voice_in_the_agents_channel_is_measured_and_said() -> None:
    talk = golden.conversation()
    result = golden.scored(replace(talk, agent=talk.agent + talk.user * np.float32(0.1)))
    assert value(result, "bleed_db_agent") == pytest.approx(-20.0, abs=0.5)
    assert any("the agent channel carries the other at -20" in line for line in result.warnings)


def test_clean_channels_are_far_apart_and_nothing_is_said() -> None:
    result = golden.scored()
    assert value(result, "bleed_db_agent") == pytest.approx(-63, abs=1)
    assert result.warnings == ()


def test_noise_is_no_bleed() -> None:
    talk = golden.conversation()
    rng = np.random.default_rng(3)
    noise = rng.standard_normal(len(talk.agent)).astype(np.float32) * np.float32(10 ** (-44 / 20))
    assert golden.scored(replace(talk, agent=talk.agent + noise)).warnings == ()


def test_the_lag_of_an_echo_is_its_delay() -> None:
    rng = np.random.default_rng(2)
    user = rng.standard_normal(10 * RATE).astype(np.float32) * np.float32(0.1)
    agent = np.zeros_like(user)
    agent[2400:] = user[:-2400] * 0.05
    alone = np.ones(1000, bool)
    assert correlation_lag(user, agent, alone, HOP) == pytest.approx(0.1)
    assert correlation_lag(user, rng.standard_normal(10 * RATE).astype(np.float32), alone, HOP) is None
    assert correlation_lag(user, np.zeros_like(user), alone, HOP) is None
    assert correlation_lag(user, agent, ~alone, HOP) is None


@pytest.mark.parametrize("carrier", ["user", "agent"])
def test_the_lag_of_an_echo_is_found_under_louder_speech_of_its_own_channel(carrier: str) -> None:
    """The speaker's echo in the microphone, and the other way round: later is positive for the agent."""
    talk = golden.conversation()
    rng = np.random.default_rng(4)
    speech = {"user": talk.user, "agent": talk.agent}
    hiss = {name: (np.abs(x) > 0.01) * rng.standard_normal(len(x)) * 0.1 for name, x in speech.items()}
    other = "agent" if carrier == "user" else "user"
    echo = np.concatenate([np.zeros(round(0.15 * RATE)), 0.1 * hiss[other]])[: len(talk.user)]
    heard = {other: hiss[other], carrier: 4 * hiss[carrier] + echo}
    both = {name: samples.astype(np.float32) for name, samples in heard.items()}
    found = value(golden.scored(replace(talk, user=both["user"], agent=both["agent"])), "bleed_lag")
    assert found == pytest.approx(0.15 if carrier == "agent" else -0.15, abs=0.001)


@pytest.mark.parametrize(("ms", "count"), [(19, 0), (20, 1), (60, 1)])
def test_exact_zeros_inside_the_agents_speech_are_a_dropout(ms: int, count: int) -> None:
    talk = golden.conversation()
    agent = talk.agent.copy()
    first = 8 * RATE + 7
    agent[first - 1] = agent[first + ms * 24] = 0.1
    agent[first : first + ms * 24] = 0
    found = golden.metric(golden.scored(replace(talk, agent=agent)), "dropouts_per_min")
    assert found.n == count


def test_zeros_between_the_agents_turns_are_silence() -> None:
    talk = golden.conversation()
    agent = talk.agent.copy()
    agent[45 * RATE : 50 * RATE] = 0
    assert golden.metric(golden.scored(replace(talk, agent=agent)), "dropouts_per_min").n == 0


def faded(talk: Conversation, seconds: float) -> Conversation:
    """The agent's turn from 6.25 to 11 s dies away over its last seconds."""
    agent = talk.agent.copy()
    size = round(seconds * RATE)
    agent[11 * RATE - size : 11 * RATE] *= np.linspace(1, 0, size, dtype=np.float32) ** 2
    return replace(talk, agent=agent)


def test_a_hard_end_is_a_cutoff_and_a_fade_is_none() -> None:
    hard = golden.metric(golden.scored(), "cutoff_rate")
    soft = golden.metric(golden.scored(faded(golden.conversation(), 0.5)), "cutoff_rate")
    assert (hard.numerator, soft.numerator) == (9, 8)


def test_clipping_and_offset_are_shares_of_full_scale() -> None:
    talk = golden.conversation()
    agent = talk.agent + np.float32(0.01)
    agent[:600] = 1.0
    result = golden.scored(replace(talk, agent=agent))
    assert value(result, "clipping_ratio_agent") == pytest.approx(600 / len(agent))
    assert value(result, "clipping_ratio_user") == 0
    assert value(result, "dc_offset_agent") == pytest.approx(0.01, abs=0.001)


def test_a_clock_that_runs_fast_is_told_in_parts_per_million() -> None:
    clocks = [(float(t), 5.0 + t * 1.0001) for t in range(60)]
    assert drift_ppm(clocks) == pytest.approx(100, abs=0.01)
    assert drift_ppm(clocks[:1]) is None
    result = golden.scored(replace(golden.conversation(), metadata={"clocks": clocks}))
    assert value(result, "drift_ppm") == pytest.approx(100, abs=0.01)


def test_a_log_is_held_against_the_recording() -> None:
    log = tuple(LoggedTurn(end, fto + 0.5) for end, fto in ((6.0, 0.25), (24.0, 1.5), (36.0, 1.0)))
    result = golden.scored(replace(golden.conversation(), log=log))
    assert golden.metric(result, "log_difference").observations == pytest.approx((0.5, 0.5, 0.5))


@pytest.mark.parametrize("latency", [-0.1, 10.1])
def test_a_log_with_impossible_latencies_is_left_out(latency: float) -> None:
    log = (LoggedTurn(6.0, 0.25), LoggedTurn(24.0, latency))
    result = golden.scored(replace(golden.conversation(), log=log))
    assert problem(log) in result.warnings
    assert "log_difference" not in {m.id for m in result.metrics}
