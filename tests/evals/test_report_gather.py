"""What the plots get of a conversation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evals.report.gather import BadRun, Gathered, open_run
from evals.report.points import Answer, Stop
from evals.results import Turn
from tests.evals.report_runs import conversation, write_run


def gathered(latency_s: float, stop_s: float | None) -> Gathered:
    found = Gathered()
    found.add(conversation("c01", "c01.wav", latency_s, stop_s))
    return found


def test_an_answer_is_placed_at_the_end_of_the_user_s_turn_whether_it_is_late_or_early() -> None:
    # The user's first turn ends at 3.0 s, a twentieth of a minute.
    assert gathered(0.25, 0.6).answers == [Answer(0.05, 1, 250.0)]
    assert gathered(-0.2, 0.6).answers == [Answer(0.05, 1, -200.0)]


def test_rounds_count_the_user_s_turns_and_no_backchannels() -> None:
    result = conversation("c01", "c01.wav", 0.25, 0.6)
    turns = (Turn(0.1, 0.3, "backchannel"), Turn(0.5, 0.8), *result.user.turns)
    found = Gathered()
    found.add(replace(result, user=replace(result.user, turns=turns)))
    assert found.answers[0].round == 2


def test_an_interruption_not_yielded_to_has_no_time() -> None:
    assert gathered(0.25, 0.6).stops == [Stop("user_interruption", 600.0)]
    assert gathered(0.25, None).stops == [Stop("user_interruption", None)]


def test_what_cannot_be_judged_is_in_no_plot() -> None:
    result = conversation("c01", "c01.wav", 0.25, 0.6)
    found = Gathered()
    found.add(replace(result, events=tuple(replace(e, evaluable=False, why_not="x") for e in result.events)))
    assert (found.stops, found.answers) == ([], [])


def test_annotated_and_inferred_values_of_a_metric_are_never_compared() -> None:
    result = conversation("c01", "c01.wav", 0.25, 0.6)
    told = tuple(replace(metric, scoring="annotated", value=9.0) for metric in result.metrics)
    found = Gathered()
    found.add(replace(result, metrics=result.metrics + told))
    assert found.values["stop_latency"] == {"c01": 0.6}
    assert found.values["stop_latency (annotated)"] == {"c01": 9.0}


def test_a_run_is_named_by_its_folder_or_by_its_metrics(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [0.25], [0.6], with_sound=False)
    assert open_run(run / "metrics.json").path == open_run(run).path == run


def test_a_table_of_contents_that_names_a_missing_file_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [0.25], [0.6], with_sound=False)
    (run / "conversations" / "c01.json").unlink()
    with pytest.raises(BadRun, match=r"c01\.json"):
        list(open_run(run).conversations())
