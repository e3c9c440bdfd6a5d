"""Interruptions and the call's course: when the agent fell silent, and whether answers slow down.

Pure: numbers in, figures out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from evals.report.plot_style import AGENT, INK, LINE, QUIET, USER, WARN, new_figure, no_events
from evals.report.points import Answer, Stop

ROW_JITTER = 0.26
GOLDEN = 0.6180339887498949
LEAST_FOR_MEDIAN = 3
MOST_BINS = 15
"""Of rounds: longer calls get a median over several rounds each."""


def stop_latencies(stops: Sequence[Stop], limit_ms: float) -> Figure:
    """Dots, one row a group; an interruption that was not yielded to is an arrow at the limit."""
    groups = list(dict.fromkeys(stop.group for stop in stops))
    figure, grid = new_figure(1, 1.3 + 0.55 * max(1, len(groups)))
    axes: Axes = grid[0, 0]
    axes.set_title("stop latency: from the user's first sound to the agent's last")
    axes.set_xlabel("ms")
    if not stops:
        no_events(axes, "the user never interrupted the agent")
        return figure
    axes.axvline(limit_ms, color=WARN, linestyle=":", linewidth=1.2)
    for row, group in enumerate(groups):
        _row(axes, row, [stop for stop in stops if stop.group == group], limit_ms)
    axes.set_yticks(range(len(groups)), [_row_name(group, stops) for group in groups], color=INK)
    axes.set_ylim(len(groups) - 0.45, -0.55)
    axes.set_xlim(0.0, limit_ms * 1.12)
    axes.grid(axis="x", color=LINE)
    axes.annotate(
        f"still speaking after {limit_ms:,.0f} ms →",
        (limit_ms, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(-3, -3),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=7.5,
        color=WARN,
    )
    return figure


def _row_name(group: str, stops: Sequence[Stop]) -> str:
    here = [stop for stop in stops if stop.group == group]
    kept_on = sum(stop.ms is None for stop in here)
    return f"{group}\nn = {len(here)}, {kept_on} not stopped"


def _row(axes: Axes, row: int, stops: Sequence[Stop], limit_ms: float) -> None:
    # A golden-ratio sequence spreads the dots evenly and always in the same way.
    heights = [row + ROW_JITTER * (2 * (index * GOLDEN % 1.0) - 1) for index in range(1, len(stops) + 1)]
    stopped = [(stop.ms, height) for stop, height in zip(stops, heights, strict=True) if stop.ms is not None]
    going_on = [height for stop, height in zip(stops, heights, strict=True) if stop.ms is None]
    if stopped:
        axes.scatter(
            [ms for ms, _ in stopped],
            [height for _, height in stopped],
            s=26,
            color=AGENT,
            alpha=0.8,
            edgecolor="none",
        )
    if going_on:
        axes.scatter(
            [limit_ms * 1.05] * len(going_on), going_on, s=34, color=WARN, marker=">", edgecolor="none"
        )
    _median(axes, row, [ms for ms, _ in stopped] + [np.inf] * len(going_on))


def _median(axes: Axes, row: int, values: Sequence[float]) -> None:
    """Of all interruptions, those not stopped counted as longer; none when half were not stopped."""
    median = float(np.sort(values)[(len(values) - 1) // 2]) if len(values) >= LEAST_FOR_MEDIAN else np.inf
    if not np.isfinite(median):
        return
    axes.plot([median, median], [row - 0.38, row + 0.38], color=INK, linewidth=2.0)
    axes.annotate(
        f"median {median:,.0f}",
        (median, row - 0.38),
        xytext=(4, 0),
        textcoords="offset points",
        fontsize=7.5,
        color=INK,
        va="top",
    )


def trend(answers: Sequence[Answer]) -> Figure:
    """Latency over the minutes and over the rounds of the call: dots, and the median where three or more."""
    figure, grid = new_figure(1, 3.0, columns=2, share_x=False)
    by_minute, by_round = grid[0]
    by_minute.set_title("answers over the call")
    by_minute.set_xlabel("minute of the call")
    by_minute.set_ylabel("response latency, ms")
    by_round.set_title("answers by round")
    by_round.set_xlabel("user turn, counted from 1")
    if not answers:
        for axes in (by_minute, by_round):
            no_events(axes, "no answered turn")
        return figure
    _course(by_minute, [(answer.minute, int(answer.minute) + 0.5, answer.ms) for answer in answers])
    rounds = max(answer.round for answer in answers)
    width = -(-rounds // MOST_BINS)
    _course(
        by_round,
        [(a.round, ((a.round - 1) // width) * width + (width + 1) / 2, a.ms) for a in answers],
    )
    by_minute.set_xlim(0.0, int(max(answer.minute for answer in answers)) + 1)
    by_round.set_xlim(0.5, rounds + 0.5)
    by_round.sharey(by_minute)
    handles, names = by_minute.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, fontsize=8)
    by_round.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    return figure


def _course(axes: Axes, points: Sequence[tuple[float, float, float]]) -> None:
    """points: (x, x of its bin, ms)."""
    axes.axhline(0.0, color=QUIET, linewidth=0.8)
    axes.grid(axis="y", color=LINE)
    axes.scatter(
        [x for x, _, _ in points],
        [ms for _, _, ms in points],
        s=16,
        color=AGENT,
        alpha=0.55,
        edgecolor="none",
        label="one answer",
    )
    medians = []
    for centre in sorted({centre for _, centre, _ in points}):
        values = [ms for _, at, ms in points if at == centre]
        if len(values) >= LEAST_FOR_MEDIAN:
            medians.append((centre, float(np.median(values))))
    if medians:
        axes.plot(
            [x for x, _ in medians],
            [ms for _, ms in medians],
            color=USER,
            marker="s",
            markersize=4,
            linewidth=1.5,
            label=f"median of a minute, or of rounds, with {LEAST_FOR_MEDIAN} or more",
        )
