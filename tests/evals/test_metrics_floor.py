"""Floor transfers and responses: known answers and edges."""

from __future__ import annotations

import pytest

from tests.evals.talks import events, measured, metric, note, said, talk


def test_an_answer_after_a_quarter_of_a_second() -> None:
    assert metric(talk([(1, 3)], [(3.25, 5)]), "fto_user_to_agent").observations == (0.25,)


def test_an_answer_that_begins_early_is_negative_and_clamped_only_for_comparison() -> None:
    found = talk([(1, 3)], [(2.8, 5)])
    assert metric(found, "fto_user_to_agent").observations == (-0.2,)
    assert metric(found, "fto_fdb_clamped").value == 0
    assert metric(found, "fto_positive_only").value is None
    assert metric(found, "overlap_start_rate").value == 1


def test_a_turn_inside_the_others_turn_transfers_nothing() -> None:
    found = talk([(1, 6)], [(2, 4)])
    assert metric(found, "fto_user_to_agent").n == 0
    assert [e.value for e in events(found, "within_overlap")] == [2]


@pytest.mark.parametrize(("agent_start", "n"), [(1.19, 0), (1.20, 1)])
def test_simultaneous_starts_are_no_transfer(agent_start: float, n: int) -> None:
    found = talk([(1, 3)], [(agent_start, 5)])
    assert metric(found, "fto_user_to_agent").n == n


def test_a_silence_beyond_ten_seconds_is_a_lapse_and_counted_apart() -> None:
    found = talk([(1, 3), (20, 21)], [(13.01, 15), (31, 33)])
    assert metric(found, "fto_user_to_agent").observations == (10.0,)
    lapses = metric(found, "lapse_rate")
    assert (lapses.numerator, lapses.denominator) == (1, 3)


def test_answers_before_the_user_speaks_again_count_and_the_end_of_the_file_does_not() -> None:
    user = [(1, 2), (5, 6), (9, 10), (13, 14), (17, 18), (21, 22), (35, 36)]
    agent = [(2.5, 4), (6.5, 8), (10.5, 12), (14.5, 16), (22.5, 24)]
    rate = metric(talk(user, agent, 40.0), "response_rate")
    assert (rate.numerator, rate.denominator, rate.censored) == (5, 6, 1)


def test_shares_of_latencies_are_below_and_above_their_limits() -> None:
    user = [(1, 2), (11, 12), (21, 22), (31, 32)]
    agent = [(1.9, 4), (12.2, 14), (22.69, 24), (34.01, 36)]
    found = talk(user, agent, 60.0)
    names = ("below_0_ms", "under_200_ms", "under_500_ms", "under_700_ms", "over_1000_ms", "over_2000_ms")
    shares = [metric(found, f"response_share_{name}").value for name in names]
    assert shares == [0.25, 0.25, 0.5, 0.75, 0.25, 0.25]


def test_a_greeting_is_in_no_response_metric() -> None:
    found = talk([(3, 4)], [(0.5, 2)])
    assert metric(found, "greeting_s").observations == (1.5,)
    assert metric(found, "fto_agent_to_user").n == 0
    assert metric(found, "response_rate").value == 0


def test_annotated_ends_are_scored_alone_and_named_so() -> None:
    found = talk([(1, 2), (11, 12)], [(2.5, 4)], annotations=(note("turn_end", 12.1, 12.1),))
    rate = metric(found, "response_rate")
    assert (rate.scoring, rate.value, rate.n) == ("annotated", 0, 1)


def test_an_annotated_end_at_which_nobody_is_heard_counts_for_nothing_and_is_named() -> None:
    found = talk([(1, 2)], [(2.5, 4)], annotations=(note("turn_end", 2, 2), note("turn_end", 20, 20)))
    assert metric(found, "response_rate").n == 1
    assert [e.why_not for e in events(found, "no_response")] == [
        "no turn of the user is heard to end near the annotated end"
    ]


def test_an_interrupted_answer_still_answers() -> None:
    found = talk([(1, 2), (4, 6)], [(2.5, 4.5), (6.5, 8)])
    assert metric(found, "response_rate").value == 1


def test_the_take_over_rule_of_the_benchmark_sees_the_whole_file_and_the_window_does_not() -> None:
    words = said("agent", ("yes", 1.0, 1.3), ("right", 9.0, 9.3))
    found = talk([(2, 4)], [(1, 1.3), (9, 9.3)], words=words, annotations=(note("turn_end", 4, 4),))
    assert metric(found, "takeover_fdb_code").value == 1
    assert metric(found, "takeover_fdb_paper").value == 1
    assert metric(found, "takeover_windowed_turn_end").value == 0


@pytest.mark.parametrize(
    ("words", "code", "paper"),
    [
        ([("a", 1.0, 1.2), ("b", 1.3, 1.99)], 0, 1),
        ([("a", 1.0, 1.99)], 0, 0),
        ([("a", 1.0, 2.0)], 1, 1),
        ([("a", 1.0, 1.1), ("b", 1.1, 1.2), ("c", 1.2, 1.3), ("d", 1.3, 1.4)], 1, 1),
        ([], 0, 0),
    ],
)
def test_both_variants_of_the_benchmarks_rule(
    words: list[tuple[str, float, float]], code: int, paper: int
) -> None:
    found = talk([(0, 1)], [(1, 2)], words=said("agent", *words))
    assert metric(found, "takeover_fdb_code").value == code
    assert metric(found, "takeover_fdb_paper").value == paper


def test_without_a_transcript_the_benchmarks_rule_says_nothing() -> None:
    assert "takeover_fdb_code" not in {m.id for m in measured(talk([(0, 1)], [(1, 2)])).metrics}


@pytest.mark.parametrize(("start", "over"), [(4.0, 1), (7.0, 1), (7.01, 0)])
def test_the_windows_edges_are_inside(start: float, over: int) -> None:
    found = talk([(1, 4)], [(start, 9)], annotations=(note("turn_end", 4, 4),))
    assert metric(found, "takeover_windowed_turn_end").value == over


def test_an_agent_that_speaks_already_takes_nothing_over() -> None:
    found = talk([(1, 4)], [(3.8, 9)], annotations=(note("turn_end", 4, 4),))
    assert metric(found, "takeover_windowed_turn_end").value is None
    assert events(found, "takeover")[0].why_not == "the agent was speaking at the event"
