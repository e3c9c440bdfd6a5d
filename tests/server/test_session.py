"""One call as a state machine: frames, flags, text, usage, mute and back-pressure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audio.frame_flags import FrameFlags
from server.actions import (
    AgentFrame,
    AgentText,
    Ahead,
    Dropped,
    End,
    Missed,
    Padded,
    PauseReading,
    Problem,
    Record,
    ResumeReading,
    Submit,
    Usage,
)
from server.endings import CLOSE_REQUESTED, EXPIRED, TOO_MUCH_AUDIO
from server.session import Session
from tests.server.sessions import (
    FREE,
    LIMITS,
    NOTHING,
    frame,
    frames,
    nothing_unheard,
    only,
    reply,
    reply_all,
    started,
)


def test_every_frame_in_gets_one_frame_out_with_the_same_number() -> None:
    session = started()
    submitted = only(Submit, session.hear(frames(3), 0.1))
    said = [action for _ in range(3) for action in reply(session, 0.2)]
    assert [action.arrived for action in submitted] == [0.1, 0.1, 0.1]
    assert [action.frame for action in only(AgentFrame, said)] == [0, 1, 2]


def test_user_and_agent_are_recorded_side_by_side_at_the_same_index() -> None:
    session = started()
    session.hear([frame(0.1), frame(0.2)], 0.0)
    records = only(Record, [*reply(session, 0.1), *reply(session, 0.1)])
    assert [float(record.user[0]) for record in records] == [np.float32(0.1), np.float32(0.2)]
    assert [float(record.agent[0]) for record in records] == [0.25, 0.25]


def test_frames_before_the_models_lag_are_flagged_as_silent() -> None:
    session = started()
    session.hear(frames(2), 0.0)
    records = only(Record, [*reply(session, 0.1), *reply(session, 0.1)])
    assert [record.flags for record in records] == [FrameFlags.AGENT_SILENT, FrameFlags(0)]


def test_text_follows_the_audio_of_its_frame() -> None:
    session = started()
    session.hear(frames(2), 0.0)
    reply(session, 0.1)
    said = reply(session, 0.1, text=" hello")
    assert [type(action) for action in said[1:]] == [AgentFrame, AgentText]
    assert only(AgentText, said) == [AgentText(1, " hello")]


def test_usage_is_told_every_ten_seconds_of_session_time() -> None:
    session = started(FREE)
    told: list[Usage] = []
    for _ in range(300):
        session.hear(frames(1), 0.0)
        told += only(Usage, reply_all(session, 0.0))
    assert told == [Usage(10.0, 0.5), Usage(20.0, 1.0)]


def test_a_burst_is_taken_up_to_two_seconds_and_then_the_client_waits() -> None:
    session = started()
    out = session.hear(frames(40), 0.0)
    assert len(only(Submit, out)) == 25
    assert len(only(PauseReading, out)) == 1
    assert only(Submit, reply_all(session, 0.0)) == []


def test_being_ahead_of_the_clock_is_told_the_first_time_reading_is_held_back_for_it() -> None:
    session = started()
    assert only(Ahead, session.hear(frames(25), 0.0)) == []
    assert only(Ahead, session.hear(frames(1), 0.0)) == [Ahead()]
    reply_all(session, 0.08)
    assert only(PauseReading, session.hear(frames(5), 0.08)) == [PauseReading()]
    assert only(Ahead, session.hear(frames(5), 0.08)) == []


def test_who_waits_for_a_slow_model_is_not_told_to_send_less() -> None:
    for session in (started(), started(FREE)):
        out = session.hear(frames(40), 1000.0)
        assert len(only(PauseReading, out)) == 1
        assert only(Ahead, out) == []


def test_a_held_back_client_goes_on_when_the_wall_clock_has_caught_up() -> None:
    session = started()
    session.hear(frames(27), 0.0)
    reply_all(session, 0.0)
    assert only(Submit, session.tick(0.04)) == []
    assert len(only(Submit, session.tick(0.08))) == 1
    last = session.tick(0.16)
    assert len(only(Submit, last)) == 1
    assert len(only(ResumeReading, last)) == 1


def test_at_a_free_pace_the_wall_clock_does_not_matter_but_unread_answers_do() -> None:
    session = started(FREE)
    assert len(only(Submit, session.hear(frames(60), 0.0))) == 25
    unread = [action for _ in range(25) for action in reply(session, 0.0)]
    assert only(Submit, unread) == []
    assert len(only(Submit, session.written(25, 0.0))) == 25


def test_more_than_thirty_seconds_of_waiting_audio_end_the_session() -> None:
    fits = started()
    assert only(Problem, fits.hear(frames(25 + 375), 0.0)) == []
    session = started()
    out = session.hear(frames(25 + 376), 0.0)
    assert [problem.code for problem in only(Problem, out)] == ["audio_backlog_exceeded"]
    assert only(Dropped, out) == [Dropped(376)]
    assert only(End, session.stored(0.0)) == [End(TOO_MUCH_AUDIO)]


def test_audio_is_too_much_before_it_is_heard_exactly_when_it_would_be_after() -> None:
    fits = started()
    fits.hear(frames(10), 0.0)
    assert fits.came(15 + 375, 0.0) == []
    unheard = [15 + 376]
    session = started(forget=unheard.pop)
    session.hear(frames(10), 0.0)
    out = session.came(15 + 376, 0.0)
    assert [problem.code for problem in only(Problem, out)] == ["audio_backlog_exceeded"]
    assert only(Dropped, out) == [Dropped(391)]
    assert only(End, session.stored(0.0)) == [End(TOO_MUCH_AUDIO)]


def test_while_muted_the_model_hears_silence_and_the_clock_goes_on() -> None:
    session = started()
    session.mute(True, 0.0)
    submitted = only(Submit, session.hear(frames(1), 0.0))
    assert not submitted[0].frame.any()
    record = only(Record, reply(session, 0.1))[0]
    assert not record.user.any()
    assert FrameFlags.MUTED in record.flags
    session.mute(False, 0.1)
    assert only(Submit, session.hear(frames(1), 0.1))[0].frame.any()
    assert session.counts.muted == 1


def test_a_silent_client_is_fed_silence_in_real_time_and_the_recording_says_so() -> None:
    session = started()
    assert only(Submit, session.tick(9.9)) == []
    assert len(only(Submit, session.tick(10.0))) == 1
    out = session.tick(10.24)
    assert len(only(Submit, out)) == 3
    assert only(Padded, out) == [Padded(3)]
    assert FrameFlags.SILENCE_FED in only(Record, reply(session, 10.3))[0].flags
    assert session.counts.silence_fed == 4


def test_the_model_s_frames_say_which_of_them_nobody_sent() -> None:
    session = started()
    assert [submit.fed for submit in only(Submit, session.hear(frames(2), 0.0))] == [False, False]
    assert [submit.fed for submit in only(Submit, session.tick(10.08))] == [True, True]
    session.mute(True, 10.1)
    assert [submit.fed for submit in only(Submit, session.hear(frames(1), 10.1))] == [False]


def test_silence_that_was_made_is_told_in_pieces_of_two_seconds_and_when_audio_comes_again() -> None:
    session = started()
    session.hear(frames(10), 0.0)
    out = [
        action for n in range(30) for action in [*session.tick(10.0 + n * 0.08), *reply_all(session, 20.0)]
    ]
    assert only(Missed, out) == [Missed("filled", 10, 25)]
    assert only(Missed, session.hear(frames(2), 12.5)) == [Missed("filled", 35, 5)]
    assert only(Missed, session.hear(frames(2), 12.6)) == []


def test_a_muted_user_misses_nothing_when_silence_is_made() -> None:
    session = started()
    session.mute(True, 0.0)
    out = [action for n in range(30) for action in [*session.tick(1.0 + n * 0.08), *reply_all(session, 20.0)]]
    assert session.counts.silence_fed == 30
    assert only(Missed, out) == []


def test_at_the_end_is_told_what_came_and_was_not_heard() -> None:
    session = started()
    session.hear(frames(30), 0.0)
    out = [*session.end(EXPIRED, 0.0), *reply_all(session, 0.0)]
    assert only(Missed, out) == [Missed("dropped", 25, 5)]


def test_audio_that_comes_before_the_start_or_after_the_close_is_counted_as_dropped() -> None:
    session = Session(LIMITS, lambda: NOTHING, nothing_unheard, 0.0)
    assert session.hear(frames(2), 0.0) == [Dropped(2)]
    assert session.counts.dropped == 2


def test_a_model_that_owes_an_answer_for_too_long_is_given_up() -> None:
    session = started(replace(LIMITS, answer_timeout_s=30.0, idle_timeout_s=1e6))
    session.hear(frames(2), 5.0)
    reply(session, 20.0)
    assert only(Problem, session.tick(49.9)) == []
    assert [problem.code for problem in only(Problem, session.tick(50.0))] == ["model_error"]


def test_a_model_that_owes_nothing_may_be_silent_for_ever() -> None:
    session = started(replace(FREE, idle_timeout_s=1e6))
    session.hear(frames(1), 0.0)
    reply_all(session, 0.0)
    assert session.tick(8e4) == []


def test_a_mute_after_the_close_takes_back_nothing_that_was_said_before() -> None:
    session = started()
    session.hear(frames(30), 0.0)
    session.end(CLOSE_REQUESTED, 0.0)
    session.mute(True, 0.0)
    reply_all(session, 0.0)
    rest = only(Submit, session.tick(1.0))
    assert len(rest) == 5
    assert all(submit.frame.any() for submit in rest)
    assert session.counts.muted == 0
