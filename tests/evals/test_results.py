"""The results' JSON: complete, stable, described by the published schema."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evals.events import TYPES
from evals.results import dump, dump_event, load_conversation, load_run
from evals.schema import schema
from evals.thresholds import Thresholds, parse_threshold
from tests.evals import golden

PUBLISHED = Path(__file__).parents[2] / "evals" / "schema.json"


def test_a_conversation_is_read_back_as_it_was_written() -> None:
    text = dump(golden.scored())
    assert dump(load_conversation(text)) == text


def test_what_is_no_result_is_refused() -> None:
    text = dump(golden.scored())
    for bad, message in (
        ("{}", "schema must be 'duet.evals/1', not None"),
        (text.replace("duet.evals/1", "duet.evals/0"), "not 'duet.evals/0'"),
        (text.replace('"duration_s"', '"length"', 1), "this is not a scored conversation"),
    ):
        with pytest.raises(ValueError, match=message):
            load_conversation(bad)
    with pytest.raises(ValueError, match="this is not a scored run"):
        load_run(text)


def test_the_published_schema_is_that_of_the_code() -> None:
    assert json.loads(PUBLISHED.read_text()) == schema()


def test_results_keep_to_the_published_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    result = golden.scored()
    checker = jsonschema.Draft202012Validator(json.loads(PUBLISHED.read_text()))
    checker.validate(json.loads(dump(result)))
    checker.validate(json.loads(dump_event(result.events[0])))
    wrong = json.loads(dump(result)) | {"more": 1}
    assert not checker.is_valid(wrong)


def test_small_thresholds_are_not_rounded_away_and_nothing_is_minus_zero() -> None:
    found = json.loads(dump(golden.scored()))
    assert found["method"]["thresholds"]["jsd_epsilon"] == 1e-10
    assert "-0.0," not in dump(replace(golden.scored(), duration_s=-0.0))


def test_every_output_names_detector_and_thresholds() -> None:
    method = golden.scored().method
    assert (method.detector, method.detector_error_ms) == ("energy", 50.0)
    assert method.thresholds == Thresholds().to_json() | {"backchannel_rule": "duet"}


def test_every_event_has_a_type_that_is_listed() -> None:
    assert {event.type for event in golden.scored().events} <= TYPES.keys()


def test_no_metric_is_there_twice_and_none_without_events_has_a_value() -> None:
    metrics = golden.scored(golden.conversation((), ())).metrics
    keys = [(m.id, m.scoring) for m in metrics]
    assert len(keys) == len(set(keys))
    for metric in metrics:
        if metric.kind == "distribution" and metric.n == 0:
            assert metric.value is None, metric.id


@pytest.mark.parametrize("text", ["yield_s", "nothing=1", "yield_s=x"])
def test_a_threshold_that_is_none_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="yield_s|nothing"):
        parse_threshold(text)


def test_thresholds_out_of_range_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="pause_max_s must be 0 or more"):
        Thresholds(pause_max_s=-1)
    with pytest.raises(ValueError, match="yield_s must be a finite number"):
        Thresholds(yield_s=float("nan"))
