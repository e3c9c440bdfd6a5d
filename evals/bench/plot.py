"""Step time against sessions, with the floor drawn in. Refuses to know how steps were timed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

from evals.bench.step_rows import StepRow

NAMES = {"A": "A moshi, one stream", "B": "B reference", "C": "C compact"}


def draw(rows: Sequence[StepRow], path: Path) -> None:
    """Writes a PNG; one line a subject, at the longest context measured."""
    mpl.use("Agg")
    from matplotlib import pyplot

    longest = max(row.context for row in rows)
    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    for subject, name in NAMES.items():
        mine = [row for row in rows if row.subject == subject and row.context == longest]
        if mine:
            axes.plot([row.sessions for row in mine], [row.p50_ms for row in mine], marker="o", label=name)
    floor = sorted({(row.sessions, row.floor_ms) for row in rows if row.context == longest})
    axes.plot(*zip(*floor, strict=True), linestyle="--", color="grey", label="floor: bytes over bandwidth")
    axes.axhline(80, color="black", linewidth=0.8, label="a frame: 80 ms")
    axes.set(xlabel="sessions in the step", ylabel="step, median ms", xscale="log", yscale="log")
    axes.set_xticks(
        sorted({row.sessions for row in rows}), [str(s) for s in sorted({r.sessions for r in rows})]
    )
    axes.legend()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
