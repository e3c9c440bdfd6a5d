"""The report's first part: what was measured, where, with what, and what is to be doubted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from evals.report.figures_in_words import counted, is_scarce, is_signed, number
from evals.report.labels import label_of
from evals.report.markup import Html, element, facts, table, text
from evals.results import Method, RunResult

WARNINGS_SHOWN = 200
GLANCE = (
    "response_latency",
    "response_rate",
    "stop_latency",
    "yield_rate",
    "premature_start_rate",
    "false_yield_rate",
)


def head(run: RunResult, sound_note: str, rate_events_min: float) -> Html:
    """sound_note: how much of the sound is in the file. Rates of fewer events are grey."""
    return element(
        "section",
        element("h1", text(f"Conversations: {run.name}")),
        facts(
            [
                ("Scored", text(_amount(run))),
                ("Turns", text(f"{run.user_turns} by the user, {run.agent_turns} by the agent")),
                ("Recorded at", text(_distinct(method.origin for method in run.methods))),
                ("Boundaries by", text(_distinct(map(_detector, run.methods)))),
                ("Words by", text(_distinct(map(_words, run.methods)))),
                ("Sound in this file", text(sound_note)),
                ("Scored with", text(run.version)),
            ]
        ),
        _glance(run, rate_events_min),
        element(
            "p",
            text(
                "A latency is never better known than its two boundaries: read it with the detector's error. "
                "Nothing that did not happen is shown as 0; it is shown as “no events”."
            ),
            class_="lead",
            style="margin-top:0.9rem",
        ),
        _rejected(run),
        _warnings(run),
        _thresholds(run),
        id="top",
    )


def _glance(run: RunResult, rate_events_min: float) -> Html:
    """The few numbers that are asked for first; a distribution by its median."""
    tiles = []
    for name in GLANCE:
        for metric in (found for found in run.metrics if found.id == name):
            is_rate = metric.kind == "rate"
            shown = number(metric.value if is_rate else metric.p50, metric.unit, signed=is_signed(metric))
            note = f"{'' if is_rate else 'median of '}{counted(metric)}"
            note += f", {metric.scoring}" if metric.scoring == "annotated" else ""
            tiles.append(
                element(
                    "div",
                    element("dt", text(label_of(name).name)),
                    element("dd", element("strong", text(shown)), element("small", text(note))),
                    class_="tile scarce" if is_scarce(metric, rate_events_min) else "tile",
                )
            )
    return element("dl", *tiles, class_="tiles", aria_label="At a glance")


def _amount(run: RunResult) -> str:
    rejected = f", {len(run.rejected)} rejected" if run.rejected else ""
    return f"{_plural(len(run.conversations), 'conversation')}, {run.minutes:.1f} minutes{rejected}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _distinct(values: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(values))


def _detector(method: Method) -> str:
    return f"{method.detector} {method.detector_version}, good to ±{method.detector_error_ms:.0f} ms"


def _words(method: Method) -> str:
    return f"{method.words} {method.words_version}".strip() or "none: nothing was transcribed"


def _rejected(run: RunResult) -> Html:
    if not run.rejected:
        return ""
    lines = (element("li", text(f"{entry.path}: {entry.reason}")) for entry in run.rejected)
    summary = element("summary", text(f"{_plural(len(run.rejected), 'input')} could not be scored"))
    return element("details", summary, element("ul", *lines, class_="warnings"), open="open")


def _warnings(run: RunResult) -> Html:
    """Grouped: a warning that many conversations share is said once, with their number."""
    counted = Counter(warning for entry in run.conversations for warning in entry.warnings)
    if not counted:
        return ""
    first = {warning: entry.id for entry in reversed(run.conversations) for warning in entry.warnings}
    lines = [
        element(
            "li", text(f"{warning} ({first[warning]}" + (f" and {count - 1} more)" if count > 1 else ")"))
        )
        for warning, count in counted.most_common(WARNINGS_SHOWN)
    ]
    hidden = len(counted) - len(lines)
    if hidden:
        lines.append(element("li", text(f"and {hidden} other warnings, in the conversations' files")))
    summary = element("summary", text(f"{_plural(sum(counted.values()), 'warning')} about the recordings"))
    return element("details", summary, element("ul", *lines, class_="warnings"))


def _thresholds(run: RunResult) -> Html:
    """One column for each method: runs that were merged may have been scored differently."""
    names = dict.fromkeys(name for method in run.methods for name in method.thresholds)
    rows = (
        element(
            "tr",
            element("th", element("code", text(name)), scope="row"),
            *(element("td", text(_threshold(method, name)), class_="figure") for method in run.methods),
        )
        for name in names
    )
    titles = ["threshold", *(_detector(method) for method in run.methods)]
    return element("details", element("summary", "Every threshold"), table(titles, rows, "Thresholds"))


def _threshold(method: Method, name: str) -> str:
    value = method.thresholds.get(name, "")
    return value if isinstance(value, str) else f"{value:g}"
