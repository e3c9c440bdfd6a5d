"""Latency from times that were worked out by hand."""

from __future__ import annotations

import pytest

from duet_client.stats import CallLog, Quantiles, summarise


def test_an_answer_is_matched_by_bytes_however_messages_cut_them() -> None:
    log = CallLog(frame_bytes=10)
    for frame in range(3):
        log.sent(now=frame * 0.08, due=frame * 0.08)
    log.received(4, now=0.05)
    assert log.received_s == []  # not one whole frame yet
    log.received(6, now=0.06)
    log.received(19, now=0.20)
    log.received(1, now=0.30)
    assert log.received_s == [0.06, 0.20, 0.30]


def test_one_message_of_many_frames_answers_them_all_at_once() -> None:
    log = CallLog(frame_bytes=10)
    for frame in range(3):
        log.sent(now=frame * 0.1, due=frame * 0.1)
    log.received(30, now=1.0)
    found = summarise([log], measured_from=0.0)
    assert found.latency_ms == Quantiles(3, 900.0, 1000.0, 1000.0, 1000.0, 1000.0)
    assert found.deadline_misses == 3


def test_a_quantile_is_a_value_that_was_observed_by_nearest_rank() -> None:
    values = [n / 1000 for n in range(1, 1001)]  # 1 ms to 1000 ms
    assert Quantiles.of(values) == Quantiles(1000, 500.0, 950.0, 990.0, 999.0, 1000.0)


def test_without_values_there_is_nothing_to_report() -> None:
    assert Quantiles.of([]) == Quantiles(0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_exactly_80_ms_is_in_time_and_more_is_a_miss() -> None:
    log = CallLog(frame_bytes=1)
    for latency in (0.0799, 0.0801):
        log.sent(now=0.0, due=0.0)
        log.received(1, now=latency)
    assert summarise([log], measured_from=0.0).deadline_misses == 1


def test_frames_before_the_measured_time_count_for_deficits_only() -> None:
    log = CallLog(frame_bytes=1)
    log.sent(now=1.0, due=0.5)  # half a second late, before the measurement
    log.sent(now=2.0, due=1.999)
    log.sent(now=3.0, due=2.997)
    log.received(1, now=1.9)
    log.received(1, now=2.04)
    found = summarise([log], measured_from=2.0)
    assert (found.frames_sent, found.frames_received, found.deficits) == (3, 2, 1)
    assert found.latency_ms.count == 1
    assert found.latency_ms.max == pytest.approx(40.0)
    assert found.send_late_ms.count == 2
    assert found.send_late_ms.max == pytest.approx(3.0)


def test_one_call_s_surplus_does_not_hide_another_s_deficit() -> None:
    short, long = CallLog(frame_bytes=1), CallLog(frame_bytes=1)
    for log in (short, long):
        log.sent(now=0.0, due=0.0)
    long.received(2, now=0.01)
    found = summarise([short, long], measured_from=0.0)
    assert (found.deficits, found.surplus) == (1, 1)
