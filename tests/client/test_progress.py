"""The progress line."""

from __future__ import annotations

import io

from duet_client.progress import Progress, clock, line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_tells_the_rate_and_when_it_ends() -> None:
    assert line(30.0, 120.0, 20.0) == "[######                  ] 0:30 of 2:00  1.50x real time  1:00 left"
    assert line(0.0, 120.0, 0.0).endswith("starting")


def test_hours_are_shown_only_where_there_are_any() -> None:
    assert (clock(59.6), clock(3599.0), clock(3723.0)) == ("1:00", "59:59", "1:02:03")


def test_it_draws_on_a_terminal_at_most_five_times_a_second_and_clears_itself() -> None:
    terminal = Terminal()
    progress = Progress(terminal, total_s=10.0, started=0.0)
    for step in range(100):
        progress.at(step / 100, now=step / 100)
    progress.finish()
    assert terminal.getvalue().count("\r[") == 5
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_without_a_terminal_it_writes_nothing() -> None:
    pipe = io.StringIO()
    progress = Progress(pipe, total_s=10.0, started=0.0)
    progress.at(5.0, now=5.0)
    progress.finish()
    assert pipe.getvalue() == ""
