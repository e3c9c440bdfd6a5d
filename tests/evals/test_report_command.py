"""The command writes one whole file that needs nothing else, or says in one line why it cannot."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evals.report.command import main
from tests.evals.report_runs import write_run

ROOT = Path(__file__).resolve().parents[2]
LATENCIES = [0.25, -0.2, 1.5]
STOPS = [0.6, None, 0.35]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    run = write_run(folder / "run", LATENCIES, STOPS)
    assert main([str(run), "-o", str(folder / "report.html")]) == 0
    return folder / "report.html"


def rows(page: str) -> dict[str, list[str]]:
    """The table of metrics: id to the texts of its cells."""
    found = re.findall(r'<tr(?: class="[^"]*")?><th scope="row" title="([^"]+)">(.*?)</tr>', page)
    return {
        metric: [html.unescape(re.sub("<[^>]+>", "", cell)) for cell in row.split("<td")[1:]]
        for metric, row in found
    }


def cells(page: str, metric: str) -> list[str]:
    return [cell.partition(">")[2] if ">" in cell else cell for cell in rows(page)[metric]]


def block(page: str, identity: str) -> Any:
    """Data that the page's script reads."""
    match = re.search(rf'<script type="application/json" id="{identity}">(.*?)</script>', page)
    assert match is not None
    return json.loads(match.group(1))


def test_nothing_in_the_page_is_fetched(report: Path) -> None:
    page = report.read_text("utf-8")
    assert re.findall(r'\b(?:src|srcset|poster|data)="', page) == []
    assert re.findall(r'<link[^>]*href="(?!data:,")', page) == []
    assert re.findall(r"url\((?!#)", page) == []
    assert "default-src 'none'" in html.unescape(page)


def test_the_same_run_is_the_same_bytes(report: Path, tmp_path: Path) -> None:
    assert main([str(report.parent / "run"), "-o", str(tmp_path / "again.html")]) == 0
    assert (tmp_path / "again.html").read_bytes() == report.read_bytes()
    for plot in report.parent.glob("*.[ps][nv]g"):
        assert (tmp_path / plot.name).read_bytes() == plot.read_bytes()


def test_the_plots_lie_beside_the_page(report: Path) -> None:
    names = {plot.name for plot in report.parent.glob("*.[ps][nv]g")}
    assert names == {
        f"{name}.{ending}"
        for name in ("floor_transfers", "response_latency", "stop_latency", "trend")
        for ending in ("png", "svg")
    }


def test_a_metric_shows_its_value_and_what_it_rests_on(report: Path) -> None:
    page = report.read_text("utf-8")
    assert cells(page, "stop_latency") == ["475 ms", "", "2", "475 ms", "", "", "1"]
    assert cells(page, "yield_rate")[:3] == ["66.7 %", "", "2 of 3"]


def test_without_another_run_there_is_no_comparison(report: Path) -> None:
    assert 'id="comparison"' not in report.read_text("utf-8")


def test_what_did_not_happen_is_no_events(report: Path) -> None:
    page = report.read_text("utf-8")
    assert cells(page, "fto_agent_to_user")[:3] == ["no events", "", "0"]
    assert cells(page, "premature_start_rate")[0] == "no events"


def test_a_rate_of_few_events_is_grey_and_a_distribution_is_not(report: Path) -> None:
    page = report.read_text("utf-8")
    assert '<tr class="scarce"><th scope="row" title="yield_rate">' in page
    assert '<tr><th scope="row" title="stop_latency">' in page


def test_people_s_values_stand_with_their_source(report: Path) -> None:
    page = report.read_text("utf-8")
    assert "median +100 ms, mean +208 ms" in page
    assert '<a href="#source-stivers2009">Stivers 2009</a>' in page
    assert '<li id="source-stivers2009">' in page


def test_the_benchmark_s_table_is_there_only_where_its_rule_is(report: Path, tmp_path: Path) -> None:
    assert "Full-Duplex-Bench v1, as published" in report.read_text("utf-8")
    run = write_run(tmp_path / "run", [0.25], [0.6], with_sound=False)
    metrics = run / "metrics.json"
    metrics.write_text(metrics.read_text("utf-8").replace("takeover_fdb_code", "takeover_other"), "utf-8")
    assert main([str(run), "-o", str(tmp_path / "report.html")]) == 0
    assert "Full-Duplex-Bench v1, as published" not in (tmp_path / "report.html").read_text("utf-8")


def test_the_head_says_what_was_measured_where_with_what_error(report: Path) -> None:
    page = html.unescape(report.read_text("utf-8"))
    for said in (
        "3 conversations, 0.6 minutes, 1 rejected",
        "6 by the user, 3 by the agent",
        "<dt>Recorded at</dt><dd>ear</dd>",
        "energy 1, good to ±50 ms",
        "mono.wav: one channel: two are needed",
        "bleed at -20 dB (c01 and 2 more)",
        "<code>yield_s</code>",
    ):
        assert said in page


def test_words_and_names_are_text_and_not_markup(report: Path) -> None:
    page = report.read_text("utf-8")
    assert "<b>what</b>" not in page
    words = [word[2] for word in block(page, "lanes-0")["user"]["words"]]
    assert words == ["so", "<b>what</b>", "is", "it"]


def test_an_event_that_is_only_bounded_says_over(report: Path) -> None:
    page = report.read_text("utf-8")
    shown = {event["id"]: event["shown"] for n in range(3) for event in block(page, f"events-{n}")}
    assert shown["c01#0001"] == "+250 ms"
    assert shown["c02#0001"] == "−200 ms"
    assert shown["c02#0002"] == "over 5\u202f000 ms"


def test_sound_beyond_the_limit_is_left_out_and_the_page_says_so(tmp_path: Path) -> None:
    # A conversation of 12 s is expected to take 12 * 6,800 * 4 / 3 = 108,800 bytes: one fits.
    run = write_run(tmp_path / "run", LATENCIES, STOPS)
    assert main([str(run), "-o", str(tmp_path / "report.html"), "--audio-limit-mb", "0.2"]) == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    assert re.findall(r'id="sound-(\d)"', page) == ["0"]
    assert "2 left out by the limit of 0.2 MB" in page


def test_sound_that_is_gone_is_named_and_the_rest_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", LATENCIES, STOPS)
    (run / "c02.wav").unlink()
    assert main([str(run), "-o", str(tmp_path / "report.html")]) == 0
    assert "1 not found or not readable (c02.wav: the file is not there any more)" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text("utf-8")
    assert re.findall(r'id="sound-(\d)"', page) == ["0", "2"]


def test_a_folder_that_is_no_run_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "-o", str(tmp_path / "report.html")]) == 2
    assert capsys.readouterr().err == (
        f"report: {tmp_path} is not the folder of a scored run: it has no metrics.json\n"
    )
    assert not (tmp_path / "report.html").exists()


def test_a_broken_conversation_is_one_line_and_leaves_no_half_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", [0.25], [0.6], with_sound=False)
    (run / "conversations" / "c01.json").write_text("{}")
    assert main([str(run), "-o", str(tmp_path / "report.html")]) == 2
    assert "c01.json: schema must be" in capsys.readouterr().err
    assert list(tmp_path.glob("report.html*")) == []


def test_without_matplotlib_one_line_says_what_to_install(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [0.25], [0.6], with_sound=False)
    program = (
        "import sys; sys.modules['matplotlib'] = None; "
        f"from evals.report.command import main; sys.exit(main([{str(run)!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "report: matplotlib is not installed: pip install 'duet[evals]'\n"


def test_a_negative_limit_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "--audio-limit-mb", "-1"]) == 2
    assert capsys.readouterr().err == "report: --audio-limit-mb must be 0 or more, not -1.0\n"


def test_a_run_without_conversations_has_a_page(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [], [])
    assert main([str(run), "-o", str(tmp_path / "report.html")]) == 0
    assert cells((tmp_path / "report.html").read_text("utf-8"), "stop_latency")[0] == "no events"


def test_a_mistake_in_the_command_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path), "--bogus"])
    assert capsys.readouterr().err == "report: unrecognized arguments: --bogus\n"
