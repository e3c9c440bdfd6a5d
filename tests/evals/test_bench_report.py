"""The bench's table says what was measured and hides what was not."""

from __future__ import annotations

from duet_client.stats import CallLog, Summary, summarise
from evals.bench.report import Log, Row, command, log_page, table


def one_call(latencies_ms: list[float], late_ms: float = 0.0) -> Summary:
    log = CallLog(frame_bytes=2)
    for n, latency in enumerate(latencies_ms):
        log.sent(n * 0.08 + late_ms / 1000, n * 0.08)
        if latency:
            log.received(2, n * 0.08 + (late_ms + latency) / 1000)
    return summarise([log], measured_from=0.0)


def test_a_row_tells_latency_misses_and_unanswered_frames() -> None:
    row = Row("duet", "live", 1, 1, one_call([10, 20, 30, 100, 0]), 1)
    assert row.cells() == ["duet", "live", "1", "1 of 1", "20.0", "100.0", "100.0", "25.0 %", "1", "0.0", "-"]


def test_a_call_that_was_never_served_has_no_latency_and_all_its_frames_missing() -> None:
    row = Row("moshi.server", "moshi", 2, 1, one_call([0, 0, 0]), 3)
    assert row.cells()[3:9] == ["1 of 2", "-", "-", "-", "-", "3"]


def test_a_late_load_generator_shows_no_figure_but_its_lateness() -> None:
    row = Row("duet", "live", 1, 1, one_call([10, 10], late_ms=25.0), 0)
    assert not row.trusted
    assert row.cells()[4:] == ["-", "-", "-", "-", "0", "25.0 (invalid)", "-"]


def test_the_log_s_command_has_the_options_that_were_given() -> None:
    assert command([]) == "make bench"
    assert command(["--calls", "1", "4"]) == 'make bench BENCH_ARGS="--calls 1 4"'


def test_the_table_is_aligned_markdown() -> None:
    lines = table([Row("duet", "live", 1, 1, one_call([10]), 0)]).splitlines()
    assert len(lines) == 3
    assert len({len(line) for line in lines}) == 1
    assert set(lines[1]) == {"|", "-"}


def test_the_log_names_command_machine_notes_and_failures() -> None:
    row = Row("duet", "live", 2, 1, one_call([10]), 0, errors=("call 1: refused",))
    page = log_page(
        Log("2026-01-02", "make bench", {"machine": "two cores"}, ["mind this"], [row], [("Held", "none")])
    )
    for text in (
        "2026-01-02",
        "`make bench`",
        "machine: two cores",
        "- mind this",
        "## Held\n\nnone",
        "call 1: refused",
        "1 of 2",
    ):
        assert text in page
