"""Backchannels, false yields and false responses: known answers and edges."""

from __future__ import annotations

import math

import pytest

from evals.backchannels import Rule, backchannels
from evals.intervals import Interval
from evals.metrics.listening import histogram, measure
from evals.results import find
from evals.thresholds import Thresholds
from evals.words import Word
from tests.evals.talks import events, metric, note, said, talk


def test_a_short_sound_into_the_others_speech_is_a_backchannel() -> None:
    found = talk([(1, 10)], [(4, 4.4)])
    assert metric(found, "backchannel_per_min").value == 1
    assert metric(found, "backchannel_per_user_speech_min").value == pytest.approx(60 / 9)
    assert metric(found, "fto_user_to_agent").n == 0


def test_without_words_it_is_called_what_it_sounds_like() -> None:
    assert [e.type for e in events(talk([(1, 10)], [(4, 4.4)]), "short_overlap")] == ["short_overlap"]
    worded = talk([(1, 10)], [(4, 4.4)], words=said("agent", ("mhm", 4.0, 4.4)))
    assert [e.words for e in events(worded, "backchannel")] == ["mhm"]


@pytest.mark.parametrize(("end", "n"), [(5.0, 1), (5.01, 0)])
def test_a_backchannel_lasts_a_second_at_most(end: float, n: int) -> None:
    assert metric(talk([(1, 10)], [(4, end)]), "backchannel_per_min").n == n


def test_a_short_sound_after_which_the_other_is_done_is_none() -> None:
    assert metric(talk([(1, 4.2)], [(4, 4.4)]), "backchannel_per_min").n == 0


def test_a_short_sound_in_the_others_pause_is_one() -> None:
    assert metric(talk([(1, 4), (4.9, 8)], [(4.2, 4.6)]), "backchannel_per_min").n == 1


def test_a_short_interruption_is_told_by_its_words() -> None:
    stop = talk([(22, 22.4)], [(20, 22.9)], words=said("user", ("Stop!", 22.0, 22.4)))
    assert metric(stop, "stop_latency").observations == (0.9,)
    right = talk([(22, 22.4)], [(20, 22.9)], words=said("user", ("Right.", 22.0, 22.4)))
    assert metric(right, "stop_latency").n == 0


def rule_finds(rule: Rule, length_s: float, words: int) -> bool:
    ipu = Interval(4, 4 + length_s)
    step = length_s / max(words, 1)
    said_words = [Word("la", 4 + n * step, 4 + (n + 1) * step) for n in range(words)]
    return bool(backchannels((ipu,), (Interval(1, 10),), said_words, rule, Thresholds()))


@pytest.mark.parametrize(
    ("rule", "length_s", "words", "found"),
    [
        ("duet", 1.0, 2, True),
        ("duet", 0.5, 3, False),
        ("fdb_paper", 0.9, 1, True),
        ("fdb_paper", 1.0, 1, False),
        ("fdb_paper", 0.9, 2, False),
        ("fdb_code", 0.9, 2, True),
        ("fdb_code", 1.0, 2, False),
        ("fdb_code", 0.9, 4, False),
    ],
)
def test_each_rule_has_its_limits(rule: Rule, length_s: float, words: int, found: bool) -> None:
    assert rule_finds(rule, length_s, words) is found


def test_going_on_over_a_backchannel_is_no_yield() -> None:
    rate = metric(talk([(1, 5), (15.3, 15.7)], [(13.3, 18)]), "false_yield_rate")
    assert (rate.value, rate.n) == (0, 1)


@pytest.mark.parametrize(("stop", "value"), [(16.3, 1), (16.31, 0)])
def test_a_false_yield_begins_within_a_second(stop: float, value: int) -> None:
    found = talk([(1, 5), (15.3, 15.7)], [(13.3, stop), (stop + 0.6, 20)])
    assert metric(found, "false_yield_rate").value == value


@pytest.mark.parametrize(("silence", "value"), [(0.49, 0), (0.5, 1)])
def test_a_false_yield_lasts_half_a_second(silence: float, value: int) -> None:
    found = talk([(1, 5), (15.3, 15.7)], [(13.3, 16), (16 + silence, 20)])
    assert metric(found, "false_yield_rate").value == value


def test_an_agent_that_had_finished_did_not_yield() -> None:
    words = said("agent", ("Done.", 15.0, 16.0))
    found = talk(
        [(1, 5), (15.3, 15.7)], [(13, 16)], words=words, annotations=(note("backchannel", 15.3, 15.7),)
    )
    rate = metric(found, "false_yield_rate")
    assert (rate.scoring, rate.value) == ("annotated", None)
    assert events(found, "user_sound")[0].why_not == "the agent had finished its sentence"


def test_side_talk_is_no_turn_of_the_user() -> None:
    found = talk([(1, 5), (15, 18)], [(13, 20)], annotations=(note("talk_to_other", 14.8, 18),))
    assert metric(found, "false_yield_rate").value == 0
    assert metric(found, "stop_latency").n == 0


@pytest.mark.parametrize(("onset", "value"), [(23.9, 1), (24.1, 0)])
def test_an_answer_to_side_talk_is_false_within_two_seconds(onset: float, value: int) -> None:
    found = talk([(1, 5), (20, 22)], [(5.5, 8), (onset, 26)], annotations=(note("talk_to_other", 20, 22),))
    rate = metric(found, "false_response_rate")
    assert (rate.scoring, rate.value) == ("annotated", value)


def test_without_annotations_nobody_knows_what_is_meant_for_the_agent() -> None:
    assert metric(talk([(1, 5), (20, 22)], [(5.5, 8)]), "false_response_rate").value is None


def test_backchannels_where_people_make_them_are_at_no_distance() -> None:
    found = talk([(0.1, 9.9)], [(2.1, 2.5), (6.1, 6.5)], 10.0)
    human = histogram([2.1, 6.1], 10.0, 0.2)
    metrics = measure(found, Thresholds(), "duet", human).metrics
    assert find(metrics, "backchannel_jsd").value == pytest.approx(0, abs=1e-6)  # type: ignore[union-attr]
    assert find(metrics, "backchannel_w1").value == pytest.approx(0, abs=0.01)  # type: ignore[union-attr]


def test_backchannels_where_nobody_makes_them_are_as_far_as_can_be() -> None:
    found = talk([(0.1, 9.9)], [(2.1, 2.5)], 10.0)
    metrics = measure(found, Thresholds(), "duet", histogram([8.1], 10.0, 0.2)).metrics
    assert find(metrics, "backchannel_jsd").value == pytest.approx(math.sqrt(math.log(2)), abs=1e-3)  # type: ignore[union-attr]
    assert find(metrics, "backchannel_w1").value == pytest.approx(6.0, abs=0.11)  # type: ignore[union-attr]


def test_without_backchannels_only_the_benchmarks_column_has_a_number() -> None:
    metrics = measure(talk([(0.1, 9.9)], [], 10.0), Thresholds(), "duet", histogram([8.1], 10.0, 0.2)).metrics
    assert find(metrics, "backchannel_jsd").value is None  # type: ignore[union-attr]
    assert find(metrics, "fdb_backchannel_jsd").value == 1.0  # type: ignore[union-attr]
