"""What must hold for the golden minute when it is silenced, swapped, moved, joined or made otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import soxr

from evals.conversation import RATE, Conversation
from evals.metrics.build import pooled
from evals.results import ConversationResult, dump
from evals.scoring import Settings, score
from evals.thresholds import Thresholds
from tests.evals import golden

HOP_S = 0.010
NEEDS_AN_AGENT = (
    "fto_user_to_agent",
    "fto_agent_to_user",
    "response_latency",
    "stop_latency",
    "yield_rate",
    "recovery_latency",
    "false_yield_rate",
    "collision_resolution",
    "greeting_s",
    "collision_per_min",
    "within_overlap_per_min",
)


def values(result: ConversationResult) -> dict[str, float | None]:
    return {m.id: m.value for m in result.metrics}


def offsets(result: ConversationResult, name: str = "fto_user_to_agent") -> list[float]:
    return list(golden.metric(result, name).observations)


def test_with_a_silent_agent_nothing_is_zero_but_the_response_rate() -> None:
    found = values(golden.scored(golden.conversation(agent=())))
    assert {name: found[name] for name in NEEDS_AN_AGENT} == dict.fromkeys(NEEDS_AN_AGENT)
    assert found["response_rate"] == 0
    assert found["premature_start_rate"] == 0


def test_with_a_silent_user_there_is_no_opportunity_for_anything() -> None:
    found = values(golden.scored(golden.conversation(user=())))
    names = (
        "response_rate",
        "fto_user_to_agent",
        "stop_latency",
        "premature_start_rate",
        "backchannel_per_min",
    )
    assert {name: found[name] for name in names} == dict.fromkeys(names)
    assert found["talk_ratio_agent"] == pytest.approx(22.75 / 60, abs=1e-6)


def test_in_silence_everything_is_edge() -> None:
    found = values(golden.scored(golden.conversation((), ())))
    assert (found["silence_ratio"], found["talk_ratio"]) == (1, 0)


def test_swapped_channels_swap_what_is_of_one_channel() -> None:
    before, after = golden.scored(), golden.scored(golden.conversation(golden.AGENT, golden.USER))
    one, other = values(before), values(after)
    assert one["talk_ratio_user"] == other["talk_ratio_agent"]
    assert one["talk_ratio_agent"] == other["talk_ratio_user"]
    for name in ("pause", "gap", "overlap", "ipu"):
        assert one[f"{name}_sec_per_min"] == pytest.approx(other[f"{name}_sec_per_min"])
    assert before.user.ipus == after.agent.ipus


def test_swapped_channels_swap_the_two_directions_of_the_floor() -> None:
    user, agent = ((1.0, 3.0), (6.0, 8.0)), ((3.5, 5.0), (7.8, 9.0))
    one = golden.scored(golden.conversation(user, agent, 12.0))
    other = golden.scored(golden.conversation(agent, user, 12.0))
    assert offsets(one) == pytest.approx([0.5, -0.2])
    assert offsets(other, "fto_agent_to_user") == pytest.approx([-0.2])  # the first is the greeting's
    assert offsets(one, "fto_agent_to_user") == offsets(other) == pytest.approx([1.0])


def moved(pairs: golden.Spans, by: float) -> golden.Spans:
    return tuple((start + by, end + by) for start, end in pairs)


def test_a_shift_of_both_channels_changes_no_offset() -> None:
    later = golden.conversation(moved(golden.USER, 3.0), moved(golden.AGENT, 3.0), 63.0)
    for name in ("fto_user_to_agent", "fto_agent_to_user", "stop_latency", "recovery_latency"):
        assert offsets(golden.scored(later), name) == pytest.approx(offsets(golden.scored(), name))


@pytest.mark.parametrize("by", [0.1, 0.25])
def test_a_shift_of_the_agent_moves_every_offset_by_as_much(by: float) -> None:
    result = golden.scored(golden.conversation(agent=moved(golden.AGENT, by)))
    assert offsets(result) == pytest.approx([v + by for v in [0.25, -0.20, 1.50, 1.00, 0.80]], abs=HOP_S)
    back = [v - by for v in [1.0, -0.6, 2.0, 2.0, 1.0]]
    assert offsets(result, "fto_agent_to_user") == pytest.approx(back, abs=HOP_S)


def test_two_conversations_pooled_are_the_two_joined_to_one() -> None:
    """Each ends in silence longer than any window, so that nothing reaches across the joint."""
    agent = golden.AGENT[1:]
    short = golden.conversation(agent=agent, duration_s=75.0)
    twice = golden.conversation(
        (*golden.USER, *moved(golden.USER, 75.0)), (*agent, *moved(agent, 75.0)), 150.0
    )
    one, both = golden.scored(short), golden.scored(twice)
    for name in ("fto_user_to_agent", "response_rate", "stop_latency", "overlap_sec_per_min", "talk_ratio"):
        joint = pooled([golden.metric(one, name)] * 2, Thresholds())
        assert joint.value == pytest.approx(golden.metric(both, name).value), name
        assert joint.n == golden.metric(both, name).n, name


@pytest.mark.parametrize("rate", [48_000, 16_000])
def test_another_rate_moves_no_edge_by_more_than_a_hop(rate: int) -> None:
    def there_and_back(samples: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        return np.asarray(soxr.resample(soxr.resample(samples, RATE, rate), rate, RATE), np.float32)

    talk = golden.conversation()
    result = golden.scored(replace(talk, user=there_and_back(talk.user), agent=there_and_back(talk.agent)))
    expected = [edge for span in (*golden.USER, *golden.AGENT) for edge in span]
    found = [edge for i in (*result.user.ipus, *result.agent.ipus) for edge in (i.start, i.end)]
    assert found == pytest.approx(expected, abs=HOP_S + 1e-9)


def test_sixteen_bits_find_what_floats_find() -> None:
    talk = golden.conversation()

    def rounded(samples: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        return (np.round(samples * 32768).astype(np.int16) / np.float32(32768)).astype(np.float32)

    coarse = golden.scored(replace(talk, user=rounded(talk.user), agent=rounded(talk.agent)))
    assert coarse.user.ipus == golden.scored(talk).user.ipus
    assert coarse.agent.ipus == golden.scored(talk).agent.ipus


def test_the_same_input_twice_is_the_same_bytes() -> None:
    def once() -> str:
        talk: Conversation = golden.conversation()
        return dump(score(talk, Settings("silero")))

    pytest.importorskip("faster_whisper")
    assert once() == once()
