"""The table of what the model did beside what people do, and the published table it may be held against."""

from __future__ import annotations

from collections.abc import Sequence

from evals.report.figures_in_words import NOTHING, counted, interval, is_scarce, is_signed, number
from evals.report.labels import GROUPS, label_of
from evals.report.markup import Html, element, table, text
from evals.report.references import FULL_DUPLEX_BENCH_V1, SOURCES, human, source
from evals.results import Metric, RunResult

HEAD = ("metric", "value", "95 % interval", "n", "median", "p90", "p95", "censored")


def metrics_section(run: RunResult, rate_events_min: float) -> Html:
    """Rates that rest on fewer events than `rate_events_min` are grey."""
    rows = [row for group in GROUPS for row in _group(group, run.metrics, rate_events_min)]
    note = (
        f"Value: the mean of a distribution, or a rate. Rates from fewer than {rate_events_min:g} events "
        "are grey: they may be chance. Intervals: bootstrap over conversations where there are several, else "
        "over events (marked). Scored from annotations and by inference are separate rows, never one number. "
        "People: published values of human conversations; their detectors and situations differ from these."
    )
    return element(
        "section",
        element("h2", "Model and people"),
        element("p", text(note), class_="lead"),
        table(HEAD, rows, "Every metric, beside what people do"),
        id="metrics",
    )


def _group(group: str, metrics: Sequence[Metric], rate_events_min: float) -> list[Html]:
    found = [metric for metric in metrics if label_of(metric.id).group == group]
    if not found:
        return []
    found.sort(key=lambda metric: (label_of(metric.id).order, metric.scoring))
    title = element(
        "tr", element("th", text(group), colspan=str(len(HEAD)), scope="rowgroup"), class_="group"
    )
    return [title, *(_row(metric, rate_events_min) for metric in found)]


def _row(metric: Metric, rate_events_min: float) -> Html:
    signed = is_signed(metric)
    badge = (
        "" if metric.scoring == "measured" else " " + element("span", text(metric.scoring), class_="badge")
    )
    name = element(
        "th",
        text(label_of(metric.id).name) + badge,
        element("span", text(metric.rule), class_="rule"),
        _people(metric.id),
        scope="row",
        title=metric.id,
    )
    over_events = " (events)" if metric.ci_over == "events" else ""
    cells = (
        number(metric.value, metric.unit, signed=signed),
        interval(metric.ci95, metric.unit, signed=signed) + over_events * bool(metric.ci95),
        counted(metric),
        *(_quantile(metric, value, signed) for value in (metric.p50, metric.p90, metric.p95)),
        str(metric.censored) if metric.censored else "",
    )
    return element(
        "tr",
        name,
        *(element("td", text(cell), class_=_cell_class(cell)) for cell in cells),
        class_="scarce" if is_scarce(metric, rate_events_min) else None,
    )


def _cell_class(cell: str) -> str:
    return "figure nothing" if cell == NOTHING else "figure"


def _quantile(metric: Metric, value: float | None, signed: bool) -> str:
    return "" if value is None else number(value, metric.unit, signed=signed)


def _people(metric: str) -> Html:
    """One line for each thing that is known of people."""
    return "".join(
        element(
            "span",
            element("b", "people: "),
            text(f"{reference.text} "),
            element("a", text(_short(reference.source)), href=f"#source-{reference.source}"),
            class_="people",
        )
        for reference in human(metric)
    )


def _short(key: str) -> str:
    citation = source(key).citation
    return f"{citation.split()[0].rstrip(',')} {citation.split('(')[1][:4]}"


def sources_section(run: RunResult) -> Html:
    """Where the values of others come from; the benchmark's table only where we have its rule."""
    fdb = any("fdb" in metric.id for metric in run.metrics)
    return element(
        "section",
        element("h2", "Sources"),
        element(
            "ul",
            *(
                element(
                    "li",
                    text(entry.citation) + " ",
                    element("a", text(entry.url), href=entry.url),
                    text(f" (checked: {entry.checked})"),
                    id=f"source-{entry.key}",
                )
                for entry in SOURCES
                if fdb or entry.key != FULL_DUPLEX_BENCH_V1.source
            ),
        ),
        _published() if fdb else "",
        id="sources",
    )


def _published() -> Html:
    published = FULL_DUPLEX_BENCH_V1
    rows = (
        element(
            "tr",
            element("th", text(row.system), scope="row"),
            *(
                element("td", text("" if value is None else f"{value:.3f}"), class_="figure")
                for value in row.values
            ),
        )
        for row in published.rows
    )
    caution = (
        "For that benchmark's own stimuli and recogniser. Other recognisers and re-runs of the same systems "
        "have moved these take-over rates by a factor of two and more, so compare "
        "only runs scored in the same way."
    )
    return element(
        "details",
        element("summary", text(published.title)),
        element("p", text(caution), class_="lead"),
        table(("system", *published.columns), rows, published.title),
    )
