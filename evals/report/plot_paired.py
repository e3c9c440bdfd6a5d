"""Two runs side by side: every compared metric's paired difference with its interval. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evals.report.plot_style import AGENT, INK, LINE, QUIET, new_figure, no_events

CLEAR = 0.05
"""Corrected p below which a difference is drawn filled."""
AXIS_NAMES = {"s": "ms", "share": "percentage points", "wpm": "words per minute"}
SCALES = {"s": 1_000.0, "share": 100.0}
LEAST_REACH = {"s": 10.0, "share": 1.0, "wpm": 5.0}
"""Of the axis either way: differences of nothing are not blown up."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One row: in the metric's own unit; low and high None where there is no interval."""

    name: str
    unit: str
    value: float
    low: float | None
    high: float | None
    p_holm: float | None


def paired_differences(differences: Sequence[Difference]) -> Figure:
    """A panel for each unit, a row for each metric; filled where Holm's corrected p is below 0.05."""
    units = list(dict.fromkeys(difference.unit for difference in differences))
    rows = [[d for d in differences if d.unit == unit] for unit in units]
    heights = [len(panel) + 1.6 for panel in rows] or [3.0]
    figure, grid = new_figure(len(heights), 0.25 * sum(heights) + 0.4, share_x=False, heights=heights)
    if not differences:
        no_events(grid[0, 0], "no metric has a value in the same conversation of both runs")
    for axes, unit, panel in zip(grid[:, 0], units, rows, strict=False):
        _panel(axes, unit, panel)
    return figure


def _panel(axes: Axes, unit: str, rows: Sequence[Difference]) -> None:
    scale = SCALES.get(unit, 1.0)
    axes.axvline(0.0, color=QUIET, linewidth=1.0)
    for height, row in enumerate(rows):
        if row.low is not None and row.high is not None:
            axes.plot([row.low * scale, row.high * scale], [height, height], color=AGENT, linewidth=1.6)
        clear = row.p_holm is not None and row.p_holm < CLEAR
        axes.plot(
            [row.value * scale],
            [height],
            marker="o",
            markersize=6,
            color=AGENT,
            markerfacecolor=AGENT if clear else "none",
        )
    axes.set_yticks(range(len(rows)), [row.name for row in rows], color=INK)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel(f"this run minus the other, {AXIS_NAMES.get(unit, unit.replace('_', ' '))}")
    axes.grid(axis="x", color=LINE)
    low, high = axes.get_xlim()
    reach = max(abs(low), abs(high), LEAST_REACH.get(unit, 0.5))
    axes.set_xlim(-reach, reach)
