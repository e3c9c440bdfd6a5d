"""Which numbers of calls count as held, and what the steps' lines turn into."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet_client.stats import CallLog, Summary, summarise
from evals.bench.held import holds, most_held, told
from evals.bench.plot import draw
from evals.bench.report import Row
from evals.bench.step_rows import compare, parts, read

LINES = """subject\tsessions\tcapacity\tcontext\tp50_ms\tp99_ms\tparts, floor and own
A\t1\t1\t500\t30.0\t40.0\t8.0\t15.0\t7.0\t0.0\t0.5\t3.9
B\t1\t1\t500\t24.0\t30.0\t7.0\t11.0\t6.0\t0.0\t0.5\t3.9
C\t1\t1\t500\t4.0\t5.0\t1.0\t2.0\t0.9\t0.1\t0.5\t3.9
C\t2\t2\t500\t6.0\t7.0\t2.0\t2.0\t1.9\t0.1\t0.6\t5.9
"""


def answers(frames: int, late: int) -> Summary:
    """`late` of the frames are answered after 100 ms, the others after 20."""
    log = CallLog(frame_bytes=2)
    for n in range(frames):
        log.sent(n * 0.08, n * 0.08)
        log.received(2, n * 0.08 + (0.1 if n < late else 0.02))
    return summarise([log], measured_from=0.0)


def row(server: str, calls: int, served: int, summary: Summary, unanswered: int = 0) -> Row:
    return Row(server, "moshi", calls, served, summary, unanswered)


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        (row("C", 2, 2, answers(1000, 0)), True),
        (row("C", 2, 2, answers(1000, 1)), True),
        (row("C", 2, 2, answers(1000, 2)), False),
        (row("C", 2, 1, answers(1000, 0)), False),
        (row("C", 2, 2, answers(1000, 0), unanswered=2), True),
        (row("C", 2, 2, answers(1000, 0), unanswered=3), False),
        (row("C", 2, 0, answers(0, 0)), False),
    ],
)
def test_a_number_of_calls_is_held_when_all_are_served_in_time(candidate: Row, expected: bool) -> None:
    assert holds(candidate) is expected


def test_one_bad_round_is_enough_for_a_number_not_to_be_held() -> None:
    good, bad = answers(1000, 0), answers(1000, 50)
    rows = [row("C", 1, 1, good), row("C", 1, 1, good), row("C", 4, 4, good), row("C", 4, 4, bad)]
    assert most_held(rows, "C") == 1
    assert most_held(rows, "B") == 0


def test_the_ratios_are_told_and_so_is_that_nobody_tried_more() -> None:
    good, bad = answers(1000, 0), answers(1000, 50)
    rows = [row("A", 1, 1, good), row("A", 8, 1, good), row("B", 1, 1, good), row("B", 8, 8, bad)]
    rows += [row("C", 1, 1, good), row("C", 8, 8, good)]
    text = told(rows, ("A", "B", "C"))
    assert "C: 8 calls held" in text
    assert "C holds 8.0 times B's" in text
    assert "8 calls were the most that was tried" in text


def test_steps_are_compared_at_the_same_number_of_sessions() -> None:
    assert compare(read(LINES.splitlines())) == [
        ["1", "500", "30.00", "24.00", "4.00", "0.50", "6.00", "8.0"],
        ["2", "500", "-", "-", "6.00", "0.60", "-", "10.0"],
    ]


def test_a_steps_parts_are_told() -> None:
    assert parts(read(LINES.splitlines()))[2] == [
        "C",
        "1",
        "500",
        "4.00",
        "5.00",
        "1.00",
        "2.00",
        "0.90",
        "0.10",
        "3.90",
    ]


def test_a_line_of_another_shape_is_not_taken() -> None:
    with pytest.raises(ValueError, match="a line of 2 cells"):
        read(["A\t1"])


def test_the_plot_is_written(tmp_path: Path) -> None:
    draw(read(LINES.splitlines()), tmp_path / "steps.png")
    assert (tmp_path / "steps.png").read_bytes()[:4] == b"\x89PNG"
