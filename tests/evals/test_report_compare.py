"""Two runs on the same stimuli, with differences known beforehand."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest

from evals.intervals import Interval
from evals.report.command import main
from evals.results import RunResult, dump, load_conversation, load_run
from tests.evals.report_runs import write_run

LATENCIES = [0.25, -0.2, 1.5, 1.0, 0.8]
STOPS = [0.6, 0.5, 0.35, None, 0.4]


def compared(this: Path, other: Path) -> str:
    out = this.parent / "report.html"
    assert main([str(this), "--compare", str(other), "-o", str(out), "--audio-limit-mb", "0"]) == 0
    return html.unescape(out.read_text("utf-8"))


def section(page: str) -> str:
    return page[page.index('id="comparison"') :].partition("</section>")[0]


def row(page: str, metric: str) -> list[str]:
    match = re.search(rf'title="{metric}">(.*?)</tr>', section(page))
    assert match is not None
    return re.findall(r"<td[^>]*>(.*?)</td>", match.group(1))


def write_runs(folder: Path) -> tuple[Path, Path]:
    """The other run answers 150 ms later, stops 100 ms later, and once, in c05, does not stop."""
    this = write_run(folder / "this", LATENCIES, STOPS, name="new", with_sound=False)
    later = [latency + 0.15 for latency in LATENCIES]
    other_stops = [0.7, 0.6, 0.45, None, None]
    return this, write_run(folder / "other", later, other_stops, name="old", with_sound=False)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return compared(*write_runs(tmp_path_factory.mktemp("runs")))


def test_the_difference_of_every_pair_is_found_with_its_interval(page: str) -> None:
    assert "Compared with old" in page
    latency = row(page, "response_latency")
    assert latency[:5] == ["5", "670 ms", "820 ms", "−150 ms", "−150 to −150 ms"]


def test_p_values_are_corrected_over_the_metrics_that_were_tested(page: str) -> None:
    # Five equal signs: 2/32. Three equal signs: 2/8. Yielding: one pair of five differs: 1. Three tests.
    assert row(page, "response_latency")[5:] == ["0.062", "0.188"]
    assert row(page, "stop_latency")[5:] == ["0.250", "0.500"]
    assert row(page, "yield_rate")[5:] == ["1.000", "1.000"]


def test_a_pair_needs_a_value_on_both_sides(page: str) -> None:
    assert row(page, "stop_latency")[:4] == ["3", "483 ms", "583 ms", "−100 ms"]


def test_the_difference_of_shares_is_in_points(page: str) -> None:
    assert row(page, "yield_rate")[:4] == ["5", "80.0 %", "60.0 %", "+20.0 points"]


def test_pairs_that_are_pairs_raise_no_doubt(page: str) -> None:
    assert "notice" not in section(page)


def test_what_keeps_conversations_from_being_pairs_is_said(tmp_path: Path) -> None:
    this, other = write_runs(tmp_path)
    (other / "metrics.json").write_text(
        dump(without_last(load_run((other / "metrics.json").read_text("utf-8")))), "utf-8"
    )
    file = other / "conversations" / "c02.json"
    found = load_conversation(file.read_text("utf-8"))
    moved = replace(found.user, ipus=(Interval(1.2, 3.0), found.user.ipus[1]))
    file.write_text(dump(replace(found, user=moved)), "utf-8")
    told = section(compared(this, other))
    assert "1 conversation: only in this run (c05)." in told
    assert "1 conversation: the user spoke at other times in the two runs" in told
    assert "not the same stimulus (c02)" in told
    assert (tmp_path / "comparison.png").is_file()
    assert (tmp_path / "comparison.svg").is_file()


def without_last(run: RunResult) -> RunResult:
    return replace(run, conversations=run.conversations[:-1])
