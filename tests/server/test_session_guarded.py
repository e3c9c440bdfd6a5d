"""The session with hold-back and guardrails: back-pressure, endings and words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from duet_client.wire import Word
from server import endings
from server.actions import AgentDone, AgentFrame, End, Finish, Guarded, Notice, Record, Submit, Words
from server.endings import CLOSE_REQUESTED, CONTENT
from server.guardrails.delivery import Policy
from server.guardrails.rules import Rules, make_rule
from server.lifecycle import State
from server.session import Actions, Session
from tests.server.sessions import (
    CONTEXT,
    FREE,
    LAG,
    LIMITS,
    NOTHING,
    frames,
    nothing_unheard,
    only,
    owed,
    reply,
)


def guarded(limits: Any = LIMITS, holdback: int = 0, **values: Any) -> Session:
    rule = {"name": "n", "listen": ["agent_text"], "phrases": ["red fox"], "action": "end"} | values
    policy = Policy(Rules((make_rule(rule),)), holdback)
    session = Session(limits, lambda: NOTHING, nothing_unheard, 0.0, policy)
    session.start(LAG, CONTEXT, 0.0)
    return session


def answer_all(session: Session, now: float, texts: dict[int, str] | None = None) -> Actions:
    """The model answers what is owed, and the socket takes what leaves."""
    out: Actions = []
    while owed(session):
        done = reply(session, now, (texts or {}).get(session.counts.answered, ""))
        out += [*done, *session.written(len(only(AgentFrame, done)), now)]
    return out


def test_frames_that_are_held_back_are_nothing_that_the_socket_owes_taking() -> None:
    session = guarded(FREE, holdback=25)
    out = session.hear(frames(200), 0.0)
    out += answer_all(session, 0.0)
    assert session.counts.answered == len(only(Submit, out)) == 200
    assert [said.frame for said in only(AgentFrame, out)] == list(range(175))


def test_at_a_free_pace_unread_answers_still_hold_the_input_back() -> None:
    session = guarded(FREE, holdback=10)
    session.hear(frames(60), 0.0)
    while owed(session):
        reply(session, 0.0)
    assert session.counts.answered == 35
    assert len(only(Submit, session.written(25, 0.0))) == 25


def test_a_close_lets_everything_out_that_is_held_back() -> None:
    session = guarded(holdback=6)
    session.hear(frames(4), 0.0)
    assert only(AgentFrame, answer_all(session, 0.1)) == []
    out = session.end(CLOSE_REQUESTED, 0.1)
    assert [said.frame for said in only(AgentFrame, out)] == [0, 1, 2, 3]
    kinds = [type(action) for action in out]
    assert kinds[-2:] == [AgentDone, Finish]
    assert kinds[-4] is Record


def test_an_end_closes_with_content_and_everything_after_the_match_is_silent() -> None:
    session = guarded(holdback=2)
    session.hear(frames(20), 0.0)
    out = answer_all(session, 0.1, {6: " red fox "})
    assert [notice.code for notice in only(Notice, out)] == ["guardrail_ended"]
    assert [bool(said.pcm.any()) for said in only(AgentFrame, out)] == [True] * 4 + [False] * 16
    assert only(Finish, out)[0].ending is CONTENT
    assert (CONTENT.wire_reason, CONTENT.close_code) == ("content", 1008)
    assert only(End, session.stored(0.2)) == [End(CONTENT)]


def test_what_the_end_of_a_call_still_says_is_judged_and_the_first_ending_stays() -> None:
    session = guarded(holdback=25)
    session.hear(frames(3), 0.0)
    session.end(CLOSE_REQUESTED, 0.0)
    out = answer_all(session, 0.1, {2: " red fox"})
    assert len(only(Guarded, out)) == 1
    assert [said.pcm.any() for said in only(AgentFrame, out)] == [False] * 3
    assert only(Finish, out)[0].ending is CLOSE_REQUESTED


def test_words_that_were_heard_are_told_and_judged() -> None:
    session = guarded(listen=["user"])
    session.hear(frames(1), 0.0)
    answer_all(session, 0.0)
    words = (Word("red", 0, 40, 0.9), Word("fox", 40, 80, 0.9))
    assert session.words("agent", words, 80, 0.1) == [Words("agent", words, 80)]
    out = session.words("user", words, 80, 0.1)
    assert out[:2] == [Words("user", words, 80), Guarded("n", "user", "end", 1, "red fox")]
    assert only(Finish, out)[0].ending is CONTENT
    late = session.words("user", words, 160, 0.2)  # of a call that is over: nothing but told
    assert late == [Words("user", words, 160), Guarded("n", "user", "end", 1, "red fox")]


def test_a_rule_leaves_its_hits_in_the_recording_and_none_where_there_is_no_rule() -> None:
    session = guarded(action="flag")
    session.hear(frames(2), 0.0)
    answer_all(session, 0.0, {0: " red fox "})
    summary = only(Finish, session.end(CLOSE_REQUESTED, 0.1))[0].summary
    assert summary["guardrails"]["hits"] == [
        {"rule": "n", "listen": "agent_text", "action": "flag", "at_ms": 0}
    ]


@given(
    st.sampled_from([LIMITS, FREE]),
    st.integers(0, 25),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.sampled_from(["", " red", " fox "]))),
    st.sampled_from([endings.CLOSE_REQUESTED, endings.CONNECTION_LOST, endings.SHUT_DOWN]),
    st.sampled_from(["flag", "mute", "end"]),
)
def test_every_frame_leaves_once_and_in_order_whatever_is_held_back_or_silenced(
    limits: Any, holdback: int, story: list[tuple[int, int, str]], ending: endings.Ending, action: str
) -> None:
    session = guarded(replace(limits, backlog_s=1e4), holdback, action=action)
    now: float = 0.0
    out: Actions = []
    for heard, answered, text in story:
        now += 1.0
        out += session.hear(frames(heard), now)
        for _ in range(min(answered, owed(session))):
            out += reply(session, now, text)
        out += session.written(session._unwritten, now)
    out += session.end(ending, now)
    while session.state is State.FINISHING:
        now += 1.0
        out += [*answer_all(session, now), *session.written(session._unwritten, now), *session.tick(now)]
    out += session.stored(now)
    counts = session.counts
    assert [said.frame for said in only(AgentFrame, out)] == list(range(counts.answered))
    assert len(only(Record, out)) == counts.accepted == counts.answered + counts.unanswered
    assert type(out[-1]) is End
