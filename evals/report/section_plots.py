"""The plots of a run: drawn, written beside the report as PNG and SVG, and put into the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from evals.report.gather import Gathered
from evals.report.labels import FTO_TO_AGENT, FTO_TO_USER, RESPONSE_LATENCY
from evals.report.markup import Html, element, text
from evals.report.plot_events import stop_latencies, trend
from evals.report.plot_floor import floor_transfer_histogram, latency_distribution
from evals.report.plot_style import house_style, inline_svg, write_plot
from evals.results import RunResult

YIELD_MS = 2_000.0
"""Where the run does not say how long it waited for the agent to stop."""


@dataclass(frozen=True, slots=True)
class Plot:
    """name: of the files. words: what the plot shows, for its caption and for readers who cannot see it."""

    name: str
    figure: Figure
    words: str


def plots_section(plots: Sequence[Plot], folder: Path) -> Html:
    """Writes each plot's files into the folder and gives the section that shows them all."""
    return element(
        "section",
        element("h2", "Plots"),
        element("div", *(shown(plot, folder) for plot in plots), class_="plots"),
        id="plots",
    )


def shown(plot: Plot, folder: Path) -> Html:
    with house_style():
        document = write_plot(plot.figure, folder, plot.name)
    return element(
        "figure",
        inline_svg(document, plot.name, text(plot.words)),
        element("figcaption", text(f"{plot.words} Files: {plot.name}.png, {plot.name}.svg.")),
    )


def plots_of(run: RunResult, gathered: Gathered, other: RunResult | None) -> list[Plot]:
    """The four plots of section "Plots"; `other` adds its line to the latencies."""
    latencies = [("this run" if other else run.name, in_ms(run, RESPONSE_LATENCY))]
    if other is not None:
        latencies.append(("other run", in_ms(other, RESPONSE_LATENCY)))
    limit_ms = yield_limit_ms(run)
    with house_style():
        return [
            Plot(
                "floor_transfers",
                floor_transfer_histogram(in_ms(run, FTO_TO_AGENT), in_ms(run, FTO_TO_USER)),
                "Floor-transfer offsets, signed: from one speaker's end to the other's start.",
            ),
            Plot(
                "response_latency",
                latency_distribution(latencies),
                "Response latency: share of the answered turns whose answer had begun by then.",
            ),
            Plot(
                "stop_latency",
                stop_latencies(gathered.stops, limit_ms),
                "Stop latency of each interruption; an arrow: the agent was still speaking at the limit.",
            ),
            Plot(
                "trend",
                trend(gathered.answers),
                "Response latency over the call's minutes and over its rounds: does the agent slow down?",
            ),
        ]


def in_ms(run: RunResult, metric: str) -> list[float]:
    """All observations of a metric, in milliseconds, however they were scored."""
    return [value * 1_000 for found in run.metrics if found.id == metric for value in found.observations]


def yield_limit_ms(run: RunResult) -> float:
    for method in run.methods:
        limit = method.thresholds.get("yield_s")
        if isinstance(limit, int | float):
            return limit * 1_000
    return YIELD_MS
