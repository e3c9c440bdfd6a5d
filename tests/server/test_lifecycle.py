"""How a session ends: every way, what is still answered, and what is said."""

from __future__ import annotations

from dataclasses import replace

from audio.frame_flags import FrameFlags
from server import endings
from server.actions import (
    AgentFrame,
    Closed,
    Dropped,
    End,
    Finish,
    Notice,
    Padded,
    Problem,
    Record,
    ResumeReading,
    Submit,
    Usage,
)
from server.endings import Ending
from server.lifecycle import TIMEOUTS, TRANSITIONS, State
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

ALL_ENDINGS = [value for value in vars(endings).values() if isinstance(value, Ending)]


def test_every_state_but_the_last_can_be_left_and_the_last_cannot() -> None:
    left = {state for state, _ in TRANSITIONS}
    assert left == set(State) - {State.ENDED}


def test_every_state_in_which_somebody_could_wait_for_ever_has_a_timeout() -> None:
    assert {timeout.state for timeout in TIMEOUTS} == set(State) - {State.ENDED}
    assert all(hasattr(LIMITS, timeout.limit) for timeout in TIMEOUTS)


def test_endings_have_names_of_their_own_and_say_something_when_they_say_it() -> None:
    assert len({ending.reason for ending in ALL_ENDINGS}) == len(ALL_ENDINGS) == 18
    assert all(bool(ending.message) == bool(ending.code) == bool(ending.told_as) for ending in ALL_ENDINGS)


def test_a_close_is_answered_in_order_with_everything_that_was_sent_before() -> None:
    session = started(tail=([frame(0.1)], 900))
    session.hear(frames(2), 0.0)
    out = session.end(endings.CLOSE_REQUESTED, 0.1)
    assert len(only(Submit, out)) == 1
    assert only(Padded, out) == [Padded(1)]
    rest = reply_all(session, 0.2)
    assert [said.frame for said in only(AgentFrame, rest)] == [0, 1, 2]
    assert only(Record, rest)[-1].flags == FrameFlags.PADDED_INPUT
    finish = only(Finish, rest)[0]
    assert finish.ending is endings.CLOSE_REQUESTED
    assert finish.summary["counts"]["padded_samples"] == 900
    assert session.stored(0.3) == [
        Usage(0.24, 3 / 250),
        Closed(endings.CLOSE_REQUESTED, 0.24),
        End(endings.CLOSE_REQUESTED),
    ]


def test_a_close_without_any_audio_ends_at_once() -> None:
    session = started()
    assert len(only(Finish, session.end(endings.CLOSE_REQUESTED, 0.0))) == 1
    assert only(Closed, session.stored(0.0)) == [Closed(endings.CLOSE_REQUESTED, 0.0)]


def test_audio_that_waits_when_its_sender_closes_is_heard_at_its_pace_first() -> None:
    session = started()
    session.hear(frames(30), 0.0)
    assert only(Dropped, session.end(endings.CLOSE_REQUESTED, 0.0)) == []
    reply_all(session, 0.0)
    assert session.state is State.FINISHING
    session.tick(0.4)
    assert len(only(Finish, reply_all(session, 0.4))) == 1
    assert session.counts.answered == 30


def test_audio_that_waits_when_somebody_else_hangs_up_is_dropped_and_counted() -> None:
    session = started()
    session.hear(frames(30), 0.0)
    out = session.end(endings.REMOTE_HANGUP, 0.0)
    assert only(Dropped, out) == [Dropped(5)]
    assert len(only(ResumeReading, out)) == 1
    assert only(Finish, reply_all(session, 0.0))[0].summary["counts"]["dropped"] == 5


def test_a_lost_connection_frees_the_place_at_once_and_keeps_what_the_user_said() -> None:
    session = started()
    session.hear(frames(3), 0.0)
    reply(session, 0.0)
    out = session.end(endings.CONNECTION_LOST, 0.1)
    records = only(Record, out)
    assert [bool(record.user.any()) for record in records] == [True, True]
    assert [record.flags for record in records] == [FrameFlags.AGENT_SILENT] * 2
    assert only(Finish, out)[0].summary["counts"]["unanswered"] == 2
    assert reply(session, 0.2) == []


def test_a_lost_connection_while_finishing_overrules_the_close() -> None:
    session = started()
    session.hear(frames(3), 0.0)
    session.end(endings.CLOSE_REQUESTED, 0.0)
    assert only(Finish, session.end(endings.CONNECTION_LOST, 0.1))[0].ending is endings.CONNECTION_LOST


def test_a_second_ending_changes_nothing() -> None:
    session = started()
    session.hear(frames(1), 0.0)
    session.end(endings.CLOSE_REQUESTED, 0.0)
    assert session.end(endings.REMOTE_HANGUP, 0.0) == []
    assert only(Finish, reply_all(session, 0.0))[0].ending is endings.CLOSE_REQUESTED
    assert session.end(endings.SHUT_DOWN, 0.0) == []
    assert only(End, session.stored(0.0)) == [End(endings.CLOSE_REQUESTED)]


def test_an_error_of_the_model_ends_the_session_with_its_reason() -> None:
    session = started()
    session.hear(frames(2), 0.0)
    out = reply(session, 0.0, error="model_error: the step failed")
    assert [(problem.type, problem.code) for problem in only(Problem, out)] == [
        ("server_error", "model_error")
    ]
    assert only(End, session.stored(0.0))[0].ending.close_code == 1011


def test_nobody_who_starts_nothing_keeps_a_place() -> None:
    session = Session(LIMITS, lambda: NOTHING, nothing_unheard, 0.0)
    assert session.tick(9.9) == []
    out = session.tick(10.0)
    assert [problem.code for problem in only(Problem, out)] == ["start_timeout"]
    assert out[-1] == End(endings.NOT_STARTED)
    assert only(Closed, out) == []


def test_a_session_that_sends_neither_audio_nor_commands_is_closed_and_told_why() -> None:
    session = started()
    session.command(50.0)
    assert only(Notice, session.tick(349.9)) == []
    out = session.tick(350.0)
    assert [notice.code for notice in only(Notice, out)] == ["idle_timeout"]
    out += [*reply_all(session, 350.0), *session.tick(360.0), *reply_all(session, 360.0)]
    assert only(Finish, out)[0].ending is endings.IDLE
    assert endings.IDLE.wire_reason == "expired"


def test_a_session_expires_after_its_longest_time() -> None:
    session = started(replace(FREE, max_session_s=60.0))
    session.hear(frames(1), 59.0)
    reply_all(session, 59.0)
    assert session.tick(59.9) == []
    assert only(Finish, session.tick(60.0))[0].ending is endings.EXPIRED


def test_a_drained_session_may_go_on_until_the_deadline() -> None:
    session = started(FREE)
    assert session.drain(100.0) == 130.0
    session.hear(frames(1), 129.0)
    reply_all(session, 129.0)
    assert session.tick(129.9) == []
    assert only(Finish, session.tick(130.0))[0].ending is endings.DRAINED
    assert only(End, session.stored(130.0))[0].ending.close_code == 1001


def test_a_recording_that_takes_too_long_to_finish_keeps_nobody() -> None:
    session = started()
    session.end(endings.CLOSE_REQUESTED, 1.0)
    assert only(Closed, session.tick(5.9)) == []
    assert len(only(Closed, session.tick(6.0))) == 1
    assert session.stored(7.0) == []
