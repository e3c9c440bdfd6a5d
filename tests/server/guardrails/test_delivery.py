"""What the agent says on its way out: held back, silenced, told; frame by frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.frame_flags import FrameFlags
from audio.frames import silence
from duet_client.wire import Word
from server.actions import AgentFrame, AgentText, Guarded, Notice, Record, Webhook
from server.guardrails.delivery import MUTED, Answer, Delivery, Out, Policy
from server.guardrails.rules import Rules, make_rule
from tests.server.sessions import frame, only

SECRET = {"name": "secret", "listen": ["agent_text"], "phrases": ["red fox"], "action": "mute"}


def policy(holdback: int = 0, **values: Any) -> Policy:
    return Policy(Rules((make_rule(SECRET | values),)), holdback)


def answer(number: int, text: str = "", loud: bool = True) -> Answer:
    agent = frame((number + 1) / 1000) if loud else silence()
    return Answer(frame(0.5), FrameFlags(0), number, agent, text, float(number))


def run(delivery: Delivery, texts: dict[int, str], frames: int, first: int = 0, quiet: int = 10**9) -> Out:
    """So many answers, loud up to the frame `quiet`."""
    return [
        action
        for n in range(first, first + frames)
        for action in delivery.answered(answer(n, texts.get(n, ""), n < quiet))
    ]


def heard(out: Out) -> list[bool]:
    """Whether each delivered frame is anything but exact silence."""
    return [bool(said.pcm.any()) for said in only(AgentFrame, out)]


def test_without_rules_and_hold_back_every_answer_goes_straight_through() -> None:
    delivery, given_in = Delivery(Policy()), answer(3, " hello")
    out = delivery.answered(given_in)
    assert [type(action) for action in out] == [Record, AgentFrame, AgentText]
    assert only(AgentFrame, out)[0].pcm is given_in.agent
    assert only(Record, out)[0].agent is given_in.agent
    assert delivery.over() == []
    assert delivery.summary == {}


@given(st.integers(0, 25), st.integers(0, 60), st.dictionaries(st.integers(0, 60), st.just(" word")))
def test_what_is_held_back_leaves_later_and_otherwise_as_it_was(
    holdback: int, frames: int, texts: dict[int, str]
) -> None:
    straight, held = Delivery(Policy()), Delivery(Policy(Rules(), holdback))
    expected = run(straight, texts, frames)
    now = run(held, texts, frames)
    assert len(only(AgentFrame, now)) == len(only(Record, now)) == max(0, frames - holdback)
    out = [*now, *held.over()]
    assert [_plain(action) for action in out] == [_plain(action) for action in expected]


def _plain(action: object) -> object:
    match action:
        case AgentFrame(number, pcm, arrived):
            return number, float(pcm[0]), arrived
        case Record(user, agent, flags):
            return float(user[0]), float(agent[0]), flags
    return action


def test_a_match_silences_everything_that_has_not_left_and_the_text_with_it() -> None:
    delivery = Delivery(policy(holdback=3))
    out = run(delivery, {2: " the", 4: " red", 5: " fox", 8: " ran"}, 20)
    assert heard(out) == [True] * 3 + [False] * 14  # told in frame 6, when frames 0 to 2 had left
    assert only(AgentText, out) == [AgentText(2, " the")]
    assert [said.frame for said in only(AgentFrame, out)] == list(range(17))


def test_without_hold_back_what_was_sent_before_the_match_is_all_that_leaks() -> None:
    out = run(Delivery(policy()), {4: " red", 5: " fox"}, 20)
    assert heard(out) == [True] * 6 + [False] * 14
    assert only(AgentText, out) == [AgentText(4, " red"), AgentText(5, " fox")]


def test_the_record_holds_what_was_delivered_and_says_why_it_is_silent() -> None:
    out = run(Delivery(policy()), {4: " red fox "}, 8)
    records = only(Record, out)
    assert [FrameFlags.GUARDED in record.flags for record in records] == [False] * 4 + [True] * 4
    assert [bool(record.agent.any()) for record in records] == [True] * 4 + [False] * 4
    assert all(record.user.any() for record in records)


def test_the_next_turn_is_heard_again() -> None:
    delivery = Delivery(policy())
    first = run(delivery, {1: " red fox "}, 20, quiet=8)  # quiet from 8 on: over after frame 17
    assert heard(first) == [True] + [False] * 19
    records = only(Record, first)
    assert [FrameFlags.GUARDED in record.flags for record in records] == [False] + [True] * 17 + [False] * 2
    second = run(delivery, {21: " hello"}, 5, first=20)
    assert heard(second) == [True] * 5
    assert only(AgentText, second) == [AgentText(21, " hello")]


def test_the_caller_is_told_once_a_turn_and_observers_of_every_match() -> None:
    out = run(Delivery(policy()), {1: " red fox ", 3: " red fox "}, 6)
    assert only(Notice, out) == [MUTED]
    assert only(Guarded, out) == [
        Guarded("secret", "agent_text", "mute", 1, "red fox"),
        Guarded("secret", "agent_text", "mute", 3, "red fox"),
    ]


def test_after_an_end_nothing_is_heard_any_more() -> None:
    delivery = Delivery(policy(holdback=2, action="end"))
    out = [*run(delivery, {1: " red fox "}, 60, quiet=5), *delivery.over()]
    assert delivery.ends
    assert heard(out) == [False] * 60
    assert only(AgentText, out) == []
    assert only(Notice, out) == []


def test_a_phrase_whose_last_word_is_the_calls_last_is_found_before_what_is_held_leaves() -> None:
    delivery = Delivery(policy(holdback=10))
    run(delivery, {0: " red", 1: " fox"}, 2)
    out = delivery.over()
    assert heard(out) == [False, False]
    assert len(only(Guarded, out)) == 1


@pytest.mark.parametrize("action", ["flag", "webhook"])
def test_a_rule_that_only_tells_silences_nothing(action: str) -> None:
    extra: dict[str, Any] = {"url": "http://localhost:9/x"} if action == "webhook" else {}
    delivery = Delivery(policy(action=action, **extra))
    out = run(delivery, {1: " red fox "}, 5)
    assert heard(out) == [True] * 5
    assert [hook.body for hook in only(Webhook, out)] == [
        {
            "rule": "secret",
            "listen": "agent_text",
            "action": "webhook",
            "at_ms": 80,
            "channel": "agent",
            "text": "red fox",
        }
    ] * len(extra)
    assert delivery.summary["guardrails"]["count"] == 1


def test_what_the_user_said_can_silence_the_answer_that_begins_soon() -> None:
    delivery = Delivery(policy(listen=["user"]))
    words = [Word("Red", 0, 300, 0.9), Word("fox.", 300, 640, 0.9)]
    out = [*delivery.heard("user", words), *run(delivery, {}, 8, quiet=0), *run(delivery, {}, 5, first=8)]
    assert heard(out) == [False] * 13
    assert only(Guarded, out) == [Guarded("secret", "user", "mute", 8, "red fox")]


def test_matches_are_told_without_what_is_redacted_and_the_summary_holds_no_speech() -> None:
    hide = Policy(policy().rules, redact=lambda text: text.replace("fox", "[hidden]"))
    delivery = Delivery(hide)
    out = run(delivery, {1: " red fox "}, 3)
    assert only(Guarded, out)[0].text == "red [hidden]"
    hit = {"rule": "secret", "listen": "agent_text", "action": "mute", "at_ms": 80}
    assert delivery.summary == {"guardrails": {"hits": [hit], "count": 1, "silenced_frames": 2}}


def test_silence_is_exact_and_the_models_own_samples_stay_as_they_are() -> None:
    delivery, loud = Delivery(policy()), answer(0, " red fox ")
    out = delivery.answered(loud)
    assert np.array_equal(only(AgentFrame, out)[0].pcm, silence())
    assert loud.agent.all()
