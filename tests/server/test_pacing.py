"""How fast a session may take in audio."""

from __future__ import annotations

from server.pacing import CATCH_UP_FRAMES, Free, RealTime


def accepted_at(pacer: RealTime, now: float) -> int:
    """How many frames may have gone in by `now`, if the model answers at once."""
    count = 0
    while pacer.may_accept(count, 0, 0, now):
        count += 1
    return count


def test_the_clock_of_a_session_leads_the_wall_clock_by_two_seconds_at_most() -> None:
    pacer = RealTime(100.0, 10.0)
    assert accepted_at(pacer, 100.0) == 25
    assert accepted_at(pacer, 100.07) == 25
    assert accepted_at(pacer, 100.08) == 26
    assert accepted_at(pacer, 108.0) == 125


def test_twenty_five_unanswered_frames_fill_the_inbox_however_late_the_session_is() -> None:
    assert not RealTime(0.0, 10.0).may_accept(100, 25, 0, 1000.0)
    assert RealTime(0.0, 10.0).may_accept(100, 24, 0, 1000.0)


def test_a_frame_sent_too_early_counts_as_arrived_when_its_time_has_come() -> None:
    pacer = RealTime(0.0, 10.0)
    assert pacer.arrival(0, heard=0.5, now=0.6) == 0.5
    assert pacer.arrival(49, heard=0.5, now=2.01) == 2.0


def test_silence_begins_after_the_gap_and_goes_on_in_real_time_until_audio_comes() -> None:
    pacer = RealTime(0.0, 10.0)
    assert [pacer.silence_due(now) for now in (9.99, 10.0, 10.05, 10.08, 10.24)] == [0, 1, 0, 1, 2]
    pacer.heard(10.25)
    assert [pacer.silence_due(now) for now in (10.4, 20.2, 20.25)] == [0, 0, 1]


def test_after_a_standstill_of_the_whole_process_silence_does_not_come_in_a_flood() -> None:
    pacer = RealTime(0.0, 10.0)
    assert pacer.silence_due(3600.0) == CATCH_UP_FRAMES
    assert pacer.silence_due(3600.0) == 0
    assert pacer.silence_due(3600.08) == 1


def test_a_muted_client_that_stops_sending_is_filled_in_after_a_second() -> None:
    pacer = RealTime(0.0, 10.0)
    pacer.heard(4.0)
    pacer.muted(True, 4.5)
    assert [pacer.silence_due(now) for now in (5.4, 5.5, 5.58)] == [0, 1, 1]


def test_unmuting_gives_the_client_the_full_gap_again() -> None:
    pacer = RealTime(0.0, 10.0)
    pacer.heard(4.0)
    pacer.muted(True, 4.1)
    pacer.muted(False, 4.2)
    assert [pacer.silence_due(now) for now in (6.0, 13.9, 14.0)] == [0, 0, 1]


def test_silence_that_flows_already_goes_on_through_an_unmute() -> None:
    pacer = RealTime(0.0, 10.0)
    pacer.muted(True, 0.0)
    assert pacer.silence_due(1.0) == 1
    pacer.muted(False, 1.08)
    assert pacer.silence_due(1.08) == 1


def test_at_a_free_pace_only_answers_that_nobody_took_hold_the_input_back() -> None:
    pacer = Free()
    assert pacer.may_accept(10_000, 12, 12, 0.0)
    assert not pacer.may_accept(10_000, 12, 13, 0.0)
    assert pacer.silence_due(1000.0) == 0
