"""Composed conversations: who speaks when, and how the agent behaves in them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE
from model.training.dialogue import SIDE, Answer, Dialogue, Heard, Manners, compose, listen
from model.training.texts import BACKCHANNEL, NOT_UNDERSTOOD, SILENCE

FRAMES = 300
TOPICS = ["joke", "story", "stop", "repeat"]
LENGTHS = {"joke": 40, "story": 150}
SEEDS = range(40)
MANNERS = Manners()


class Cast:
    """Clips of known lengths."""

    def request(self, random: Random, topic: str, pause_s: float) -> Heard:
        length = random.randint(SAMPLE_RATE // 2, 2 * SAMPLE_RATE) + int(pause_s * SAMPLE_RATE)
        return Heard(topic, topic, length)

    def listener(self, random: Random) -> Heard:
        return Heard(BACKCHANNEL, "yeah", random.randint(4_000, 10_000))

    def side_sound(self, random: Random) -> Heard:
        return Heard(SIDE, "", random.randint(4_000, 10_000))

    def answer(self, random: Random, topic: str) -> Answer:
        return Answer(topic, LENGTHS.get(topic, 20) + random.randint(0, 2))


def talk(seed: int, manners: Manners = MANNERS) -> Dialogue:
    return compose(Random(seed), Cast(), TOPICS, FRAMES, manners)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_answers_are_never_given_at_once_and_none_is_longer_than_it_is(seed: int) -> None:
    said = talk(seed).agent
    assert all(one.end <= other.start for one, other in zip(said, said[1:], strict=False))
    assert all(0 < each.end - each.start <= each.answer.frames for each in said)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_request_is_answered_soon_after_it_ends(seed: int) -> None:
    made, manners = talk(seed), MANNERS
    starts = {said.start: said.answer.topic for said in made.agent}
    for turn in made.turns:
        end = -(-turn.end // FRAME_SAMPLES)
        answers = [starts[end + wait] for wait in set(manners.wait_frames) if end + wait in starts]
        assert answers == [turn.heard.topic] or end + max(manners.wait_frames) >= made.frames


@pytest.mark.parametrize("seed", SEEDS)
def test_the_agent_is_silent_while_a_request_is_made_but_for_the_time_to_stop(seed: int) -> None:
    made, manners = talk(seed), MANNERS
    for turn in made.turns:
        yielded = turn.start // FRAME_SAMPLES + max(manners.yield_frames)
        last = turn.end // FRAME_SAMPLES
        assert not any(
            said.start <= frame < said.end for said in made.agent for frame in range(yielded, last)
        )


def test_the_agent_goes_on_through_a_listeners_sounds() -> None:
    manners = replace(MANNERS, barge_in=0.0, barge_in_long=0.0, listener=1.0, not_understood=0.0, alone=0.0)
    made = talk(3, manners)
    over = [
        said
        for said in made.agent
        for placed in made.user
        if placed.heard.topic == BACKCHANNEL and said.start < placed.start // FRAME_SAMPLES < said.end
    ]
    assert over
    assert all(said.end == min(FRAMES, said.start + said.answer.frames) for said in over)


def test_after_a_long_silence_the_agent_speaks_first() -> None:
    made = talk(1, replace(MANNERS, long_silence=1.0))
    assert not made.user
    assert {said.answer.topic for said in made.agent} == {SILENCE}


def test_asked_to_repeat_the_agent_says_its_last_answer_again() -> None:
    manners = replace(MANNERS, barge_in=0.0, barge_in_long=0.0, not_understood=0.0, long_silence=0.0)
    after = []
    for seed in range(150):
        said = [each.answer for each in talk(seed, manners).agent]
        for before, head, again in zip(said, said[1:], said[2:], strict=False):
            if head.topic == "repeat" and before.topic == "joke":
                after.append(again is before)
    assert len(after) > 5
    assert all(after)


def test_the_same_seed_makes_the_same_conversation() -> None:
    assert talk(5) == talk(5)
    assert talk(5) != talk(6)


def test_what_is_not_understood_is_asked_as_often_as_said() -> None:
    topics = [turn.heard.topic for seed in SEEDS for turn in talk(seed).turns]
    assert 0.1 < topics.count(NOT_UNDERSTOOD) / len(topics) < 0.3


def test_a_window_that_is_only_listened_to_has_twice_the_requests_and_time_between_them() -> None:
    made = [listen(Random(seed), Cast(), TOPICS, FRAMES, MANNERS) for seed in SEEDS]
    assert sum(len(each.turns) for each in made) > 1.7 * sum(len(talk(seed).turns) for seed in SEEDS)
    for each in made:
        gaps = [b.start - a.end for a, b in zip(each.turns, each.turns[1:], strict=False)]
        assert min(gaps) > 0.35 * SAMPLE_RATE
        assert not each.agent
