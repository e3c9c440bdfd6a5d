"""The plots: the same bytes every time, the page's own colours, and no nought for nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from evals.report.plot_events import stop_latencies, trend
from evals.report.plot_floor import floor_transfer_histogram, latency_distribution
from evals.report.plot_paired import Difference, paired_differences
from evals.report.plot_style import VARIABLES, house_style, inline_svg, png, svg, write_plot
from evals.report.points import Answer, Stop

STOPS = [Stop("calls", 600.0), Stop("calls", None), Stop("calls", 350.0)]
FIGURES: dict[str, Callable[[], Figure]] = {
    "transfers": lambda: floor_transfer_histogram([250.0, -200.0, 1_500.0], [1_000.0]),
    "latency": lambda: latency_distribution([("this", [250.0, 400.0]), ("other", [300.0])]),
    "stops": lambda: stop_latencies(STOPS, 2_000.0),
    "trend": lambda: trend([Answer(0.2, 1, 250.0), Answer(1.4, 2, 900.0)]),
    "paired": lambda: paired_differences([Difference("stop", "s", -0.1, -0.2, 0.0, 0.04)]),
}


def written(figure: Callable[[], Figure]) -> str:
    with house_style():
        return svg(figure(), "plot")


@pytest.mark.parametrize("name", FIGURES)
def test_a_plot_is_the_same_bytes_every_time(name: str) -> None:
    with house_style():
        assert png(FIGURES[name]()) == png(FIGURES[name]())
        assert svg(FIGURES[name](), name) == svg(FIGURES[name](), name)


@pytest.mark.parametrize("name", FIGURES)
def test_in_the_page_every_colour_is_the_page_s_own(name: str) -> None:
    element = inline_svg(written(FIGURES[name]), name, "what it shows")
    assert re.findall(r"#[0-9a-f]{6}\b", element) == []
    assert {variable for variable in VARIABLES.values() if f"var({variable})" in element} >= {
        "--agent",
        "--ink",
    }
    assert 'aria-label="what it shows"' in element


def test_two_plots_in_a_page_share_no_ids() -> None:
    ids = [
        set(re.findall(r'\bid="([^"]+)"', inline_svg(written(FIGURES[name]), name, name)))
        for name in ("stops", "trend")
    ]
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        (lambda: floor_transfer_histogram([], []), "no events: the floor never went this way"),
        (lambda: latency_distribution([("this", [])]), "no events: no answered turn"),
        (lambda: stop_latencies([], 2_000.0), "no events: the user never interrupted the agent"),
        (lambda: trend([]), "no events: no answered turn"),
        (lambda: paired_differences([]), "no events: no metric has a value"),
    ],
)
def test_a_plot_of_nothing_says_so(figure: Callable[[], Figure], said: str) -> None:
    assert said in written(figure)


def test_offsets_outside_the_axis_are_counted_and_named() -> None:
    assert "(n = 3, 2 outside the axis)" in written(
        lambda: floor_transfer_histogram([100.0, -2_500.0, 4_100.0], [])
    )


def bars(offsets_ms: list[float]) -> dict[int, int]:
    """Left edge of each bar that is there, to the nearest ms, and its height."""
    with house_style():
        (panel, _) = floor_transfer_histogram(offsets_ms, []).axes
    boxes = [bar.get_extents().transformed(panel.transData.inverted()) for bar in panel.patches]
    return {round((box.x0 + box.x1) / 2 - 50): round(box.height) for box in boxes if box.height > 0}


def test_an_offset_on_an_edge_belongs_to_the_bin_that_begins_there() -> None:
    assert bars([200.0, 299.9, 300.0, -100.0]) == {-100: 1, 200: 2, 300: 1}


def test_an_interruption_that_was_not_yielded_to_is_counted_and_pointed_at() -> None:
    document = written(lambda: stop_latencies(STOPS, 2_000.0))
    assert "n = 3, 1 not stopped" in document
    assert "still speaking after 2,000 ms" in document


def test_the_median_counts_those_not_stopped_as_longer() -> None:
    assert "median 600" in written(lambda: stop_latencies(STOPS, 2_000.0))


def test_there_is_no_median_where_most_were_not_stopped() -> None:
    kept_on = [Stop("calls", None), Stop("calls", None), Stop("calls", 350.0)]
    assert "median" not in written(lambda: stop_latencies(kept_on, 2_000.0))


def test_five_latencies_have_a_median_and_no_p95() -> None:
    document = written(lambda: latency_distribution([("run", [250.0, -200.0, 1_500.0, 1_000.0, 800.0])]))
    assert "run (n = 5):  p50 800 ms" in document
    assert "p95" not in document


def test_a_plot_is_written_as_png_and_as_svg(tmp_path: Path) -> None:
    with house_style():
        write_plot(FIGURES["stops"](), tmp_path, "stops")
    assert (tmp_path / "stops.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "stops.svg").read_text("utf-8")
