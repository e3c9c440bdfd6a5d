"""The schedule of frames."""

from __future__ import annotations

import pytest

from duet_client.schedule import Schedule


def test_a_late_frame_does_not_delay_the_ones_after_it() -> None:
    schedule = Schedule(start_s=100.0)
    assert schedule.due_s(45_000) == 100.0 + 3600.0  # an hour later, to the millisecond
    assert schedule.wait_s(1, now=100.03) == pytest.approx(0.05)
    assert schedule.wait_s(1, now=100.30) == 0.0
    assert schedule.wait_s(4, now=100.30) == pytest.approx(0.02)


def test_callers_of_other_phases_share_one_grid() -> None:
    starts = [Schedule.on_grid(1000.011, phase / 4).start_s for phase in range(4)]
    assert starts == [pytest.approx(value) for value in (1000.08, 1000.02, 1000.04, 1000.06)]
    assert Schedule.on_grid(1000.05, 0.25).start_s == pytest.approx(1000.10)
