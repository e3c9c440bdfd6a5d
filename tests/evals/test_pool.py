"""Conversations made one: what is pooled, what is kept apart, and what the intervals are over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evals.metrics.build import distribution, level, per, pooled, share, with_interval
from evals.pool import conversation_file, write_run, write_whole
from evals.results import Rejected, dump, load_run
from evals.thresholds import Thresholds
from tests.evals import golden
from tests.evals.talks import note

THRESHOLDS = Thresholds()


def test_observations_are_pooled_and_conversations_drawn() -> None:
    found = pooled(
        [distribution("a", values, "") for values in ([1.0, 2.0], [3.0], [], [4.0, 5.0])], THRESHOLDS
    )
    assert (found.value, found.n, found.p50, found.min, found.max) == (3.0, 5, 3.0, 1.0, 5.0)
    assert found.ci_over == "conversations"
    assert found.ci95 is not None
    assert found.ci95[0] < 3.0 < found.ci95[1]


def test_rates_are_pooled_by_their_parts() -> None:
    found = pooled([share("a", hits, "", censored=1) for hits in ([True, False], [True] * 4)], THRESHOLDS)
    assert (found.value, found.n, found.numerator, found.censored) == (5 / 6, 6, 5, 2)


def test_minutes_are_pooled_and_not_averaged() -> None:
    rows = [per("a", 6, 1, n=6, unit="per_min", rule=""), per("a", 0, 5, n=0, unit="per_min", rule="")]
    assert pooled(rows, THRESHOLDS).value == 1.0


def test_nothing_anywhere_is_nothing() -> None:
    found = pooled([distribution("a", [], ""), distribution("a", [], "")], THRESHOLDS)
    assert (found.value, found.n, found.ci95) == (None, 0, None)
    assert pooled([share("a", [], ""), share("a", [], "")], THRESHOLDS).value is None


def test_levels_are_pooled_as_conversations() -> None:
    found = pooled(
        [level("a", -20.0, "dB", ""), level("a", None, "dB", ""), level("a", -30.0, "dB", "")], THRESHOLDS
    )
    assert (found.value, found.n) == (-25.0, 2)


def test_a_single_conversation_has_intervals_over_its_events() -> None:
    assert with_interval(share("a", [True, False] * 10, ""), THRESHOLDS).ci_over == "events"
    assert with_interval(distribution("a", [1.0], ""), THRESHOLDS).ci95 is None
    assert with_interval(per("a", 3, 1, n=3, unit="per_min", rule=""), THRESHOLDS).ci95 is None


def test_different_metrics_are_never_pooled() -> None:
    with pytest.raises(ValueError, match="cannot be pooled"):
        pooled([distribution("a", [1.0], ""), distribution("a", [1.0], "", "annotated")], THRESHOLDS)


def test_annotated_and_inferred_conversations_stay_two_numbers(tmp_path: Path) -> None:
    talk = golden.conversation()
    told = replace(talk, id="told", annotations=(note("interruption", 22.0, 24.0),))
    for one in (talk, told):
        write_whole(conversation_file(tmp_path, one.id), dump(golden.scored(one)))
    run = write_run(tmp_path, ["golden", "told"], [Rejected("x", "is mono")], THRESHOLDS)
    stops = [(m.scoring, m.n, m.value) for m in run.metrics if m.id == "stop_latency"]
    assert stops == [("inferred", 1, 0.6), ("annotated", 1, 0.6)]
    assert next(m for m in run.metrics if m.id == "fto_user_to_agent").n == 10
    assert (run.minutes, run.user_turns, len(run.methods)) == (2.0, 14, 1)
    assert load_run((tmp_path / "metrics.json").read_text()).rejected == (Rejected("x", "is mono"),)
