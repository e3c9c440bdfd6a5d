"""Numbers as the reader sees them."""

from __future__ import annotations

import pytest

from evals.report.figures_in_words import (
    SHARE_DIFFERENCE,
    counted,
    interval,
    is_scarce,
    is_signed,
    number,
)
from evals.results import Metric
from tests.evals.report_runs import distribution, rate


@pytest.mark.parametrize("unit", ["s", "share", "per_min", "dB", "count", "of no kind"])
def test_what_did_not_happen_is_no_events_in_every_unit_and_never_nought(unit: str) -> None:
    assert number(None, unit) == "no events"


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.25, "s", "250 ms"),
        (-0.2, "s", "−200 ms"),
        (12.3456, "s", "12\u202f346 ms"),
        (5 / 6, "share", "83.3 %"),
        (2.8, "s_per_min", "2.80 s/min"),
        (-20.04, "dB", "−20.0 dB"),
        (150.2, "wpm", "150 /min"),
        (0.0, "share", "0.0 %"),
        (3.0, "count", "3"),
        (0.8326, "nat", "0.83 nat"),
        (-0.125, SHARE_DIFFERENCE, "−12.5 points"),
    ],
)
def test_a_value_has_the_unit_that_people_use(value: float, unit: str, shown: str) -> None:
    assert number(value, unit) == shown


def test_an_offset_shows_its_sign_and_nothing_has_none() -> None:
    assert number(0.25, "s", signed=True) == "+250 ms"
    assert number(-0.0001, "s", signed=True) == "0 ms"


def test_an_interval_names_its_unit_once() -> None:
    assert interval((-0.2, 1.5), "s", signed=True) == "−200 to +1\u202f500 ms"
    assert interval((0.0, 0.5), "per_turn") == "0.00 to 0.50 per turn"
    assert interval(None, "s") == ""


def test_a_share_of_events_shows_its_fraction() -> None:
    assert counted(rate("yield_rate", 5, 6)) == "5 of 6"
    assert counted(distribution("stop_latency", [0.6, 0.7])) == "2"


def test_a_share_of_time_shows_no_fraction_of_its_seconds() -> None:
    spoken = Metric("talk_ratio", "rate", "measured", "share", "", 0.5, 12, numerator=30.0, denominator=60.0)
    assert counted(spoken) == "12"


def test_a_rate_of_nine_events_is_scarce_and_one_of_ten_is_not() -> None:
    assert is_scarce(rate("yield_rate", 9, 9), 10.0)
    assert not is_scarce(rate("yield_rate", 9, 10), 10.0)
    assert not is_scarce(distribution("stop_latency", [0.6]), 10.0)


def test_latencies_have_signs_where_one_of_them_is_negative() -> None:
    assert is_signed(distribution("fto_user_to_agent", [0.25, -0.2], min=-0.2))
    assert not is_signed(distribution("stop_latency", [0.6], min=0.6))
