"""When the floor changes hands: the histogram of floor-transfer offsets, and how fast answers come.

Pure: numbers in milliseconds in, figures out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from evals.report.plot_style import AGENT, INK, LINE, MARK, QUIET, USER, WARN, new_figure, no_events
from evals.report.references import DELAY_HEARD_AS_TROUBLE_MS, HUMAN_MEAN_MS

Floats = npt.NDArray[np.float64]

FIRST_MS, LAST_MS, BIN_MS = -2_000, 4_000, 100
QUANTILES = (0.5, 0.9, 0.95)
LEAST_FOR_QUANTILE = {0.5: 1, 0.9: 10, 0.95: 20}
"""A quantile beyond what so few events can show is left out: p95 of five values is only their maximum."""


@dataclass(frozen=True, slots=True)
class Line:
    """A vertical line that the reader can hold the bars against."""

    at_ms: float
    name: str
    colour: str
    style: Literal["-", "--", ":"]


LINES = (
    Line(0.0, "no gap, no overlap", QUIET, "-"),
    Line(HUMAN_MEAN_MS, f"people, mean {HUMAN_MEAN_MS:.0f} ms", MARK, "--"),
    Line(
        DELAY_HEARD_AS_TROUBLE_MS, f"heard as reluctance from {DELAY_HEARD_AS_TROUBLE_MS:.0f} ms", WARN, ":"
    ),
)


@dataclass(frozen=True, slots=True)
class Stroke:
    """How one run is drawn where there are two."""

    colour: str
    line: Literal["-", "--"]
    marker: str


STROKES = (Stroke(AGENT, "-", "o"), Stroke(USER, "--", "s"))


def floor_transfer_histogram(user_to_agent_ms: Sequence[float], agent_to_user_ms: Sequence[float]) -> Figure:
    """Two panels on one axis: user to agent above, agent to user below; negative offsets are overlaps."""
    figure, axes = new_figure(2, 4.4)
    _histogram(axes[0, 0], user_to_agent_ms, AGENT, "user → agent: the agent takes the floor")
    _histogram(axes[1, 0], agent_to_user_ms, USER, "agent → user: the user takes the floor")
    axes[1, 0].set_xlabel("floor-transfer offset, ms  (left of 0: overlap, right of 0: gap)")
    axes[1, 0].set_xlim(FIRST_MS, LAST_MS)
    axes[1, 0].set_xticks(range(FIRST_MS, LAST_MS + 1, 1_000))
    figure.legend(handles=_lines_explained(), loc="outside lower center", ncols=3, fontsize=8)
    return figure


def _histogram(axes: Axes, offsets_ms: Sequence[float], colour: str, title: str) -> None:
    outside = sum(not FIRST_MS <= offset <= LAST_MS for offset in offsets_ms)
    count = f"n = {len(offsets_ms)}"
    if outside:
        count += f", {outside} outside the axis"
    axes.set_title(f"{title}  ({count})")
    if not offsets_ms:
        no_events(axes, "the floor never went this way")
        axes.tick_params(labelbottom=True)
        return
    for line in LINES:
        axes.axvline(line.at_ms, color=line.colour, linestyle=line.style, linewidth=1.2)
    # Half a microsecond keeps an offset of exactly 200 ms in the bin that begins there.
    axes.hist(
        np.asarray(offsets_ms) + 5e-4,
        bins=np.arange(FIRST_MS, LAST_MS + BIN_MS, BIN_MS).tolist(),
        color=colour,
        edgecolor="none",
        rwidth=0.9,
    )
    axes.set_ylabel("transfers per 100 ms")
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axes.grid(axis="y")


def _lines_explained() -> list[Line2D]:
    return [Line2D([], [], color=line.colour, linestyle=line.style, label=line.name) for line in LINES]


def latency_distribution(runs: Sequence[tuple[str, Sequence[float]]]) -> Figure:
    """Cumulative share of answers that had begun, over the offset; one step line for each (name, ms)."""
    figure, grid = new_figure(1, 3.3)
    axes: Axes = grid[0, 0]
    drawn = [(name, np.sort(np.asarray(values))) for name, values in runs if len(values)]
    axes.set_xlabel("agent's answer after the end of the user's turn, ms")
    if not drawn:
        axes.set_title("response latency  (n = 0)")
        no_events(axes, "no answered turn")
        return figure
    axes.axvline(0.0, color=QUIET, linewidth=1.0)
    axes.axvline(DELAY_HEARD_AS_TROUBLE_MS, color=WARN, linestyle=":", linewidth=1.2)
    for stroke, (name, values) in zip(STROKES, drawn, strict=False):
        _steps(axes, name, values, stroke)
    axes.set_ylim(0.0, 1.0)
    axes.set_yticks(np.linspace(0.0, 1.0, 5), ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_ylabel("share of answers begun")
    axes.set_title("response latency: how many answers have begun by then")
    axes.grid(axis="both", color=LINE)
    figure.legend(loc="outside lower center", ncols=1, fontsize=8, labelcolor=INK)
    return figure


def _steps(axes: Axes, name: str, values: Floats, stroke: Stroke) -> None:
    share = np.arange(1, len(values) + 1) / len(values)
    axes.step(
        np.concatenate([values[:1], values]),
        np.concatenate([[0.0], share]),
        where="post",
        color=stroke.colour,
        linestyle=stroke.line,
        linewidth=1.8,
        marker=stroke.marker,
        markersize=5,
        markevery=[],
        label=f"{name} (n = {len(values)}):  {_quantiles(values)}",
    )
    for quantile in QUANTILES:
        if len(values) < LEAST_FOR_QUANTILE[quantile]:
            continue
        at = float(np.quantile(values, quantile))
        axes.plot([at], [quantile], marker=stroke.marker, markersize=5, color=stroke.colour)


def _quantiles(values: Floats) -> str:
    shown = [quantile for quantile in QUANTILES if len(values) >= LEAST_FOR_QUANTILE[quantile]]
    return ",  ".join(f"p{quantile * 100:.0f} {np.quantile(values, quantile):,.0f} ms" for quantile in shown)
