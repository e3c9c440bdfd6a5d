"""Two runs on the same stimuli: who was better, by how much, and whether chance would do it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evals.report.figures_in_words import SHARE_DIFFERENCE, interval, number
from evals.report.gather import Gathered
from evals.report.labels import GROUPS, label_of
from evals.report.markup import Html, element, table, text
from evals.report.paired import LEAST_PAIRS, PairedDifference, compare
from evals.report.plot_paired import Difference, paired_differences
from evals.report.plot_style import house_style
from evals.report.section_plots import Plot, shown
from evals.results import Metric, RunResult

HEAD = ("metric", "pairs", "this run", "other run", "difference", "95 % interval", "p", "p, Holm")
SAME_START_S = 0.1
EXPLAINED = (
    "A pair is one conversation that both runs have, and its value in each; the means are over these pairs "
    "only, so they may differ from the table above. Difference: this run minus the other. Interval: "
    "bootstrap over pairs. p: sign-flip permutation of the pairs, two-sided; then corrected by Holm over "
    f"these metrics. Fewer than {LEAST_PAIRS} pairs have no interval and no p; n pairs give no p below 2/2ⁿ."
)


def compare_section(this: Gathered, other: Gathered, other_run: RunResult, folder: Path) -> Html:
    differences = sorted(compare(this.values, other.values), key=lambda found: _place(this, found))
    rows = [_row(found, this.metrics[found.metric]) for found in differences]
    with house_style():
        figure = paired_differences([_drawn(found, this.metrics[found.metric]) for found in differences])
    words = "Paired differences with 95 % intervals; filled where Holm's corrected p is below 0.05."
    return element(
        "section",
        element("h2", text(f"Compared with {other_run.name}")),
        element("p", text(EXPLAINED), class_="lead"),
        *_doubts(this, other),
        table(HEAD, rows, "Paired differences") if rows else element("p", "No metric can be compared."),
        shown(Plot("comparison", figure, words), folder) if rows else "",
        id="comparison",
    )


def _place(this: Gathered, found: PairedDifference) -> tuple[int, int, str]:
    label = label_of(this.metrics[found.metric].id)
    return GROUPS.index(label.group), label.order, found.metric


def _name(metric: Metric) -> str:
    note = ", annotated" if metric.scoring == "annotated" else ""
    return label_of(metric.id).name + note


def _drawn(found: PairedDifference, metric: Metric) -> Difference:
    return Difference(_name(metric), metric.unit, found.difference, found.low, found.high, found.p_holm)


def _row(found: PairedDifference, metric: Metric) -> Html:
    unit = metric.unit
    change = SHARE_DIFFERENCE if unit == "share" else unit
    bounds = None if found.low is None or found.high is None else (found.low, found.high)
    cells = (
        str(found.pairs),
        number(found.this, unit),
        number(found.other, unit),
        number(found.difference, change, signed=True),
        interval(bounds, change, signed=True),
        _p(found.p),
        _p(found.p_holm),
    )
    return element(
        "tr",
        element("th", text(_name(metric)), scope="row", title=metric.id),
        *(element("td", text(cell), class_="figure") for cell in cells),
        class_="scarce" if found.p is None else None,
    )


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _doubts(this: Gathered, other: Gathered) -> list[Html]:
    """What keeps the pairs from being pairs: conversations that one run lacks, users who spoke otherwise."""
    common = [name for name in this.user_starts if name in other.user_starts]
    lines = [
        _sentence("only in this run", [n for n in this.user_starts if n not in other.user_starts]),
        _sentence("only in the other run", [n for n in other.user_starts if n not in this.user_starts]),
        _sentence(
            "the user spoke at other times in the two runs, so this is not the same stimulus",
            [name for name in common if not _same(this.user_starts[name], other.user_starts[name])],
        ),
    ]
    return [element("p", text(line), class_="notice") for line in lines if line]


def _sentence(what: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    shown_names = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    noun = "conversation" if len(names) == 1 else "conversations"
    return f"{len(names)} {noun}: {what} ({shown_names})."


def _same(a: Sequence[float], b: Sequence[float]) -> bool:
    return len(a) == len(b) and all(abs(x - y) <= SAME_START_S for x, y in zip(a, b, strict=True))
