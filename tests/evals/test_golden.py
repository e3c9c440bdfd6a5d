"""Every number of the golden minute, from its samples, by the energy detector."""

from __future__ import annotations

import functools

import pytest

from evals.intervals import Interval, total
from evals.results import ConversationResult
from evals.segments import floor
from tests.evals import golden

HOP_S = 0.010


@functools.cache
def result() -> ConversationResult:
    return golden.scored()


def value(name: str) -> float | None:
    return golden.metric(result(), name).value


def test_every_edge_is_found_to_the_sample() -> None:
    assert result().user.ipus == golden.spans(golden.USER)
    assert result().agent.ipus == golden.spans(golden.AGENT)


def test_the_four_quantities_of_the_corpus() -> None:
    counts = {"ipu": 19, "overlap": 5, "pause": 3, "gap": 10}
    seconds = {"ipu": 40.75, "overlap": 2.80, "pause": 9.60, "gap": 10.75}
    assert {name: value(f"{name}_per_min") for name in counts} == pytest.approx(counts)
    assert {name: value(f"{name}_sec_per_min") for name in seconds} == pytest.approx(seconds, abs=HOP_S)


def test_each_channel_speaks_as_long_as_it_does() -> None:
    assert total(result().user.ipus) == pytest.approx(18.0, abs=HOP_S)
    assert total(result().agent.ipus) == pytest.approx(22.75, abs=HOP_S)


def test_the_pauses_and_the_edges_are_these() -> None:
    found = floor(result().user.ipus, result().agent.ipus, golden.DURATION_S)
    assert [p.duration for p in found.pauses] == pytest.approx([0.6, 2.0, 7.0], abs=HOP_S)
    assert found.edges == (Interval(0.0, 0.2), Interval(58.5, 60.0))


def test_all_parts_add_up_to_the_duration() -> None:
    user, agent = result().user.ipus, result().agent.ipus
    found = floor(user, agent, golden.DURATION_S)
    parts = total(user + agent) - total(found.overlaps) + total(found.pauses + found.gaps + found.edges)
    assert parts == pytest.approx(60.0)


def test_the_silence_is_what_nobody_fills() -> None:
    assert value("silence_ratio") == pytest.approx(22.05 / 60, abs=HOP_S / 60)


def test_floor_transfers_to_the_agent_are_signed() -> None:
    offsets = golden.metric(result(), "fto_user_to_agent")
    assert offsets.observations == pytest.approx([0.25, -0.20, 1.50, 1.00, 0.80], abs=HOP_S)
    assert offsets.value == pytest.approx(0.670, abs=HOP_S)
    assert offsets.p50 == pytest.approx(0.800, abs=HOP_S)


def test_the_comparison_columns_are_clamped_and_positive_only() -> None:
    assert value("fto_fdb_clamped") == pytest.approx(0.710, abs=HOP_S)
    assert value("fto_positive_only") == pytest.approx(0.8875, abs=HOP_S)


def test_floor_transfers_to_the_user_leave_greeting_and_collision_out() -> None:
    offsets = golden.metric(result(), "fto_agent_to_user")
    assert offsets.observations == pytest.approx([1.0, -0.6, 2.0, 2.0, 1.0], abs=HOP_S)
    assert offsets.value == pytest.approx(1.08, abs=HOP_S)
    assert offsets.p50 == pytest.approx(1.0, abs=HOP_S)


def test_five_of_six_turns_are_answered_and_the_last_one_is_not_known() -> None:
    rate = golden.metric(result(), "response_rate")
    assert (rate.numerator, rate.denominator, rate.censored) == (5, 6, 1)
    assert [e.start for e in result().events if e.type == "no_response"] == pytest.approx([43.0, 58.5])


def test_the_agent_stops_and_comes_back() -> None:
    stop = golden.metric(result(), "stop_latency")
    assert (stop.n, stop.censored) == (1, 0)
    assert stop.value == pytest.approx(0.600, abs=HOP_S)
    assert value("yield_rate") == 1
    assert value("recovery_latency") == pytest.approx(1.500, abs=HOP_S)


def test_a_backchannel_of_the_user_does_not_stop_the_agent() -> None:
    rate = golden.metric(result(), "false_yield_rate")
    assert (rate.numerator, rate.denominator) == (0, 1)


def test_the_agent_starts_in_one_of_two_pauses() -> None:
    rate = golden.metric(result(), "premature_start_rate")
    assert (rate.numerator, rate.denominator) == (1, 2)
    assert [e.start for e in result().events if e.type == "premature_start"] == pytest.approx([33.4])


def test_the_collision_is_resolved_by_the_agent() -> None:
    resolution = golden.metric(result(), "collision_resolution")
    assert resolution.observations == pytest.approx([1.200], abs=HOP_S)
    assert value("collision_agent_yield_rate") == 1


def test_a_terminal_overlap_is_no_interruption() -> None:
    assert value("agent_interruption_rate") == 0


def test_the_agent_says_uh_huh_once() -> None:
    rate = golden.metric(result(), "backchannel_per_min")
    assert (rate.value, rate.n) == (1.0, 1)
    assert value("backchannel_per_user_speech_min") == pytest.approx(1 / (18 / 60))


def test_the_greeting_is_reported_alone() -> None:
    assert golden.metric(result(), "greeting_s").observations == pytest.approx([1.0])
