"""What is printed beside our numbers has a source, and belongs to a metric that is measured."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from evals.conversation import RATE, ChannelName, Conversation
from evals.report.labels import COMPARED, GROUPS, label_of
from evals.report.references import (
    DELAY_HEARD_AS_TROUBLE_MS,
    FULL_DUPLEX_BENCH_V1,
    HUMAN,
    HUMAN_MEAN_MS,
    SOURCES,
    HumanReference,
    human,
    source,
)
from evals.report.section_head import GLANCE
from evals.scoring import Settings, score
from evals.words import Word


@cache
def measured() -> frozenset[str]:
    """The metrics that any conversation gets, heard and transcribed."""
    silence = np.zeros(2 * RATE, np.float32)
    nothing: dict[ChannelName, tuple[Word, ...]] = {"user": (), "agent": ()}
    talk = Conversation("c", "c.wav", silence, silence, words=nothing, reference={"agent": "so"})
    return frozenset(metric.id for metric in score(talk, Settings(detector="energy")).metrics)


@pytest.mark.parametrize("reference", HUMAN, ids=lambda r: f"{r.metric}-{r.source}")
def test_every_human_value_names_what_was_read_and_a_metric_that_is_measured(
    reference: HumanReference,
) -> None:
    found = source(reference.source)
    assert found.url.startswith("https://")
    assert found.checked
    assert reference.metric in measured()


def test_every_source_is_used() -> None:
    used = {reference.source for reference in HUMAN} | {FULL_DUPLEX_BENCH_V1.source}
    assert {entry.key for entry in SOURCES} == used


def test_the_lines_in_the_plots_are_the_numbers_in_the_text() -> None:
    texts = " ".join(reference.text for reference in human("response_latency"))
    assert f"mean +{HUMAN_MEAN_MS:.0f} ms" in texts
    assert f"between {DELAY_HEARD_AS_TROUBLE_MS:.0f} and 800 ms" in texts


def test_the_published_table_has_a_value_for_every_column_and_moshi_s_are_those_published() -> None:
    rows = {row.system: row.values for row in FULL_DUPLEX_BENCH_V1.rows}
    assert {len(values) for values in rows.values()} == {len(FULL_DUPLEX_BENCH_V1.columns)}
    moshi = dict(zip(FULL_DUPLEX_BENCH_V1.columns, rows["Moshi"], strict=True))
    assert moshi["turn latency s"] == 0.265
    assert moshi["interruption latency s"] == 0.257
    assert moshi["pause TOR, Candor"] == 0.980


def test_a_metric_nobody_named_is_shown_under_its_id() -> None:
    label = label_of("something_new_per_min")
    assert label.name == "something new per min"
    assert label.group in GROUPS


def test_what_is_compared_and_what_is_glanced_at_is_measured() -> None:
    assert COMPARED - measured() == set()
    assert set(GLANCE) - measured() == set()


def test_every_metric_that_is_measured_has_a_name() -> None:
    assert [metric for metric in measured() if label_of(metric).group == "Other"] == []
