"""From IPUs to turns: who has the floor, who only says uh-huh, where the user merely pauses.

A turn is the IPUs of one speaker, asides left out, over silences of at most `pause_max_s`. The
agent's turn ends also where a user's turn begins in between. The user's does not, not even where
the agent comes in while the user pauses (that is the agent's premature start), unless the agent
had come in before the user fell silent, by no more than a terminal overlap: then the floor was
taken over, and a user who speaks again begins a new turn.

Refuses to know samples and metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evals.backchannels import Rule, backchannels
from evals.conversation import SIDE_SOUNDS, Annotation, ChannelName, Conversation
from evals.intervals import EPSILON_S, Interval, Intervals, at_most, starting_in
from evals.segments import ipus
from evals.thresholds import Thresholds
from evals.words import Word


@dataclass(frozen=True, slots=True)
class Side:
    """One channel of a talk. speech: the IPUs that make turns; asides: the others."""

    activity: Intervals
    ipus: Intervals
    asides: Intervals
    speech: Intervals
    turns: Intervals
    words: tuple[Word, ...] | None


@dataclass(frozen=True, slots=True)
class Talk:
    """Both channels in turns.

    pauses: silences inside the user's turns. greeting: the agent's turns that begin before the
    user's first IPU; they are in `agent.turns` too. premature: the agent's turns that begin in a pause.
    """

    duration_s: float
    user: Side
    agent: Side
    pauses: Intervals
    greeting: Intervals
    premature: Intervals
    annotations: tuple[Annotation, ...] = ()

    @property
    def shared_minutes(self) -> float:
        """The duration, 0 where one of the two never takes a turn: then nothing between them can happen."""
        return self.duration_s / 60 if self.user.turns and self.agent.turns else 0.0

    @property
    def answers(self) -> Intervals:
        """The agent's turns that can answer: all but the greeting."""
        return self.agent.turns[len(self.greeting) :]

    def annotated(self, *types: str) -> tuple[Annotation, ...]:
        return tuple(a for a in self.annotations if a.type in types)

    def side(self, channel: ChannelName) -> Side:
        return self.user if channel == "user" else self.agent


def talk_of(
    conversation: Conversation, user: Intervals, agent: Intervals, rule: Rule, thresholds: Thresholds
) -> Talk:
    """The talk in a conversation with the given activity of its channels."""
    heard = {"user": ipus(user, thresholds), "agent": ipus(agent, thresholds)}
    words = conversation.words
    asides = _user_asides(
        backchannels(heard["user"], heard["agent"], words.get("user"), rule, thresholds),
        heard["user"],
        conversation.annotations,
    )
    agent_asides = backchannels(heard["agent"], heard["user"], words.get("agent"), rule, thresholds)
    user_speech, agent_speech = _without(heard["user"], asides), _without(heard["agent"], agent_asides)
    user_turns = _user_turns(user_speech, agent_speech, conversation.annotations, thresholds)
    agent_turns = _agent_turns(agent_speech, user_turns, thresholds)
    pauses = _silences(user_speech, user_turns)
    first = heard["user"][0].start if heard["user"] else conversation.duration_s
    return Talk(
        conversation.duration_s,
        Side(user, heard["user"], asides, user_speech, user_turns, words.get("user")),
        Side(agent, heard["agent"], agent_asides, agent_speech, agent_turns, words.get("agent")),
        pauses,
        tuple(turn for turn in agent_turns if turn.start < first - EPSILON_S),
        tuple(turn for pause in pauses for turn in starting_in(agent_turns, pause.start, pause.end)),
        conversation.annotations,
    )


def _user_asides(found: Intervals, heard: Intervals, annotations: Iterable[Annotation]) -> Intervals:
    """Annotations overrule the sound: a side sound is none of the user's turns, an interruption is one."""
    told = [a for a in annotations if a.type in (*SIDE_SOUNDS, "interruption")]
    asides = set(found)
    for ipu in heard:
        best = max(told, key=lambda a: a.span.overlap(ipu), default=None)
        if best is None or best.span.overlap(ipu) <= ipu.duration / 2:
            continue
        if best.type == "interruption":
            asides.discard(ipu)
        else:
            asides.add(ipu)
    return tuple(sorted(asides))


def _without(intervals: Intervals, taken: Intervals) -> Intervals:
    left_out = set(taken)
    return tuple(i for i in intervals if i not in left_out)


def _user_turns(
    speech: Intervals, agent: Intervals, annotations: Sequence[Annotation], thresholds: Thresholds
) -> Intervals:
    turns: list[Interval] = []
    for ipu in speech:
        if turns and _is_pause(Interval(turns[-1].end, ipu.start), agent, annotations, thresholds):
            turns[-1] = Interval(turns[-1].start, ipu.end)
        else:
            turns.append(ipu)
    return tuple(turns)


def _is_pause(
    silence: Interval, agent: Intervals, annotations: Sequence[Annotation], thresholds: Thresholds
) -> bool:
    """Annotations overrule the length: a pause that is told joins, an interruption begins a turn."""
    for told in annotations:
        if told.type == "pause" and told.span.overlap(silence) > silence.duration / 2:
            return True
        reach = Interval(silence.start, silence.end + thresholds.ipu_gap_s)
        if told.type == "interruption" and reach.holds(told.span.start):
            return False
    taken_over = starting_in(agent, silence.start - thresholds.terminal_overlap_s, silence.start)
    return at_most(silence.duration, thresholds.pause_max_s) and not taken_over


def _agent_turns(speech: Intervals, user: Intervals, thresholds: Thresholds) -> Intervals:
    turns: list[Interval] = []
    last = -1.0
    for ipu in speech:
        near = turns and at_most(ipu.start - turns[-1].end, thresholds.pause_max_s)
        if near and not starting_in(user, last + 2 * EPSILON_S, ipu.start):
            turns[-1] = Interval(turns[-1].start, ipu.end)
        else:
            turns.append(ipu)
        last = ipu.start
    return tuple(turns)


def _silences(speech: Intervals, turns: Intervals) -> Intervals:
    """The silences between IPUs inside turns."""
    found: list[Interval] = []
    for turn in turns:
        inside = starting_in(speech, turn.start, turn.end)
        found += [Interval(a.end, b.start) for a, b in zip(inside, inside[1:], strict=False)]
    return tuple(found)
