"""Interruptions, stops, premature starts and collisions: known answers and edges."""

from __future__ import annotations

import pytest

from tests.evals.talks import events, metric, note, said, talk


def test_the_agent_stops_after_six_tenths() -> None:
    found = metric(talk([(22, 24)], [(20, 22.6)]), "stop_latency")
    assert found.observations == (0.6,)


@pytest.mark.parametrize(("stop", "rate"), [(23.999, 1), (24.0, 1), (24.001, 0)])
def test_a_stop_at_exactly_two_seconds_is_a_yield(stop: float, rate: int) -> None:
    found = talk([(22, 26)], [(20, stop)])
    assert metric(found, "yield_rate").value == rate
    assert metric(found, "no_yield_rate").value == 1 - rate
    assert metric(found, "stop_latency").censored == 1 - rate


def test_a_sentence_pause_is_no_stop() -> None:
    found = talk([(22, 26)], [(20, 22.3), (22.79, 23.5)])
    assert metric(found, "stop_latency").observations == (1.5,)


def test_half_a_second_of_silence_is_a_stop() -> None:
    found = talk([(22, 26)], [(20, 22.3), (22.8, 23.5)])
    assert metric(found, "stop_latency").observations == (0.3,)


def test_a_quick_reply_after_the_users_end_does_not_hide_the_stop() -> None:
    found = talk([(22, 23.5)], [(20, 23.4), (23.7, 25)])
    assert metric(found, "stop_latency").observations == (1.4,)
    assert metric(found, "recovery_latency").observations == (0.2,)


@pytest.mark.parametrize(("began", "n"), [(21.81, 0), (21.80, 1)])
def test_an_agent_that_has_just_begun_is_not_interrupted(began: float, n: int) -> None:
    assert metric(talk([(22, 25)], [(began, 22.5)]), "stop_latency").n == n


def test_the_agent_comes_back_a_second_and_a_half_after_the_user() -> None:
    assert metric(talk([(22, 24)], [(20, 22.6), (25.5, 28)]), "recovery_latency").observations == (1.5,)


def test_an_agent_that_speaks_to_the_end_of_the_file_is_not_known_to_yield() -> None:
    found = talk([(28.5, 30)], [(20, 30)], 30.0)
    assert metric(found, "yield_rate").value is None
    assert events(found, "interruption")[0].why_not == "the file ends while the agent speaks"


def test_an_end_of_a_sentence_may_have_come_by_itself() -> None:
    words = said("agent", ("that", 21.0, 21.5), ("is", 21.5, 22.0), ("all.", 22.0, 22.6))
    found = talk([(22, 24)], [(20, 22.6)], words=words)
    assert events(found, "interruption")[0].tags == ("natural_end?",)


def test_annotated_interruptions_are_scored_alone_and_a_silent_agent_is_not_evaluable() -> None:
    notes = (note("interruption", 21.5, 24), note("interruption", 40, 42))
    found = talk([(22, 24), (40.5, 42), (52, 55)], [(20, 22.6), (50, 53)], annotations=notes)
    latency = metric(found, "stop_latency")
    assert (latency.scoring, latency.observations) == ("annotated", (0.6,))
    assert [e.evaluable for e in events(found, "interruption")] == [True, False]


def test_an_annotated_interruption_begins_a_turn_even_after_a_short_silence() -> None:
    notes = (note("interruption", 22.0, 24),)
    found = talk([(19, 21.2), (22, 24)], [(21.3, 22.6)], annotations=notes)
    assert metric(found, "stop_latency").observations == (0.6,)
    assert metric(talk([(19, 21.2), (22, 24)], [(21.3, 22.6)]), "stop_latency").n == 0


@pytest.mark.parametrize(("left", "n"), [(0.49, 0), (0.50, 0), (0.51, 1)])
def test_an_onset_near_the_users_end_is_a_smooth_change(left: float, n: int) -> None:
    found = metric(talk([(1, 5)], [(5 - left, 8)]), "agent_interruption_rate")
    assert (found.numerator, found.denominator) == (n, 1)


def test_the_overlap_of_an_agents_interruption_is_all_of_it() -> None:
    found = metric(talk([(1, 5), (5.3, 7)], [(3, 6)]), "agent_interruption_overlap")
    assert found.observations == pytest.approx((2.7,))


def test_an_agent_that_starts_in_the_pause_is_premature_and_collides() -> None:
    found = talk([(30, 33), (33.8, 36)], [(33.4, 35)])
    assert metric(found, "premature_start_rate").value == 1
    assert metric(found, "collision_resolution").observations == pytest.approx((1.2,))
    assert metric(found, "collision_agent_yield_rate").value == 1
    assert metric(found, "stop_latency").n == 0
    assert metric(found, "agent_interruption_rate").value == 0


def test_an_answer_after_the_pause_is_none_in_it() -> None:
    found = talk([(30, 33), (33.8, 36)], [(36.2, 38)])
    assert metric(found, "premature_start_rate").value == 0


def test_a_pause_that_begins_while_the_agent_speaks_counts_for_nothing() -> None:
    found = talk([(30, 33), (33.8, 36)], [(31, 33.5)])
    assert metric(found, "premature_start_rate").value is None
    assert not events(found, "pause")[0].evaluable


@pytest.mark.parametrize(("resumes", "pauses"), [(34.0, 1), (34.01, 0)])
def test_a_pause_lasts_a_second_at_most(resumes: float, pauses: int) -> None:
    assert metric(talk([(30, 33), (resumes, 36)], []), "premature_start_rate").n == pauses


def test_annotated_pauses_may_be_longer() -> None:
    found = talk([(30, 33), (34.5, 36)], [(33.5, 35)], annotations=(note("pause", 33, 34.5),))
    rate = metric(found, "premature_start_rate")
    assert (rate.scoring, rate.value) == ("annotated", 1)
    assert metric(found, "response_rate").denominator == 1


@pytest.mark.parametrize(("agent_start", "n"), [(10.19, 1), (10.2, 0)])
def test_starts_within_200_ms_collide(agent_start: float, n: int) -> None:
    found = talk([(1, 2), (10, 12)], [(agent_start, 12.5)])
    assert metric(found, "collision_resolution").n == n


def test_a_user_who_takes_a_taken_floor_interrupts() -> None:
    """The agent came in by a terminal overlap: what follows is no pause of the user's."""
    found = talk([(1, 3), (3.9, 5)], [(2.8, 4.5)])
    assert metric(found, "fto_user_to_agent").observations == (-0.2,)
    assert metric(found, "stop_latency").observations == (0.6,)
    assert metric(found, "premature_start_rate").n == 0


def test_an_agent_that_speaks_again_over_the_interruption_has_not_recovered() -> None:
    """It stops at 6.5, speaks again from 8 to 9 over the user, and answers 1 s after the user's end."""
    found = talk([(1, 2), (6, 12)], [(2.5, 6.5), (8, 9), (13, 15)])
    assert metric(found, "stop_latency").observations == pytest.approx((0.5,))
    assert metric(found, "recovery_latency").observations == pytest.approx((1.0,))
    early = talk([(1, 2), (6, 12)], [(2.5, 6.5), (11.6, 15)])
    assert metric(early, "recovery_latency").observations == pytest.approx((-0.4,))


def test_a_turn_that_begins_with_one_of_the_agents_is_a_collision_and_no_interruption() -> None:
    """The agent goes on after a sentence pause of 0.3 s, at the moment at which the user begins."""
    found = talk([(1.5, 2.6), (5.62, 9.0)], [(0.2, 5.3), (5.6, 6.5)])
    assert metric(found, "collision_resolution").observations == pytest.approx((0.88,))
    assert [event.start for event in events(found, "interruption")] == [1.5]
