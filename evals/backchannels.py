"""Which IPUs are backchannels: short, said into the partner's speech, and the partner goes on.

Refuses to know samples and what a backchannel is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from evals.intervals import Interval, Intervals, active_at, at_least, at_most, joined
from evals.thresholds import Thresholds
from evals.words import Word, plain, text_of, within

Rule = Literal["duet", "fdb_paper", "fdb_code"]
RULES: tuple[Rule, ...] = ("duet", "fdb_paper", "fdb_code")
"""duet: at most 1.0 s and 2 words. fdb_paper: less than 1 s and less than two words (arXiv
2503.04721). fdb_code: less than 1 s and at most 2 words (its scripts). All of them only where the
partner is speaking or pausing inside a turn, and goes on."""

INTERRUPTING = (
    "stop",
    "wait",
    "no",
    "hold on",
    "hang on",
    "excuse me",
    "sorry",
    "but",
    "actually",
    "enough",
    "pause",
    "hey",
)
"""What a short interruption begins with; a backchannel in sound alone."""


def backchannels(
    own: Intervals,
    partner: Intervals,
    words: Sequence[Word] | None,
    rule: Rule,
    thresholds: Thresholds,
) -> Intervals:
    """The backchannels among a channel's IPUs.

    An IPU that belongs to a longer stretch than the partner's is none: of two speakers who both
    make short sounds, the one who says more has the floor. Nor is one that goes on from, or into,
    something longer of the same speaker over no more than a sentence pause.
    """
    spurts = joined(own, _over_pauses(thresholds))
    others = joined(partner, _over_pauses(thresholds))
    short = tuple(ipu for ipu in own if is_short(ipu, words, rule, thresholds))
    long = set(own) - set(short)
    utterances = joined(own, thresholds.stop_silence_s)
    longer = {said for ipu in long if (said := active_at(utterances, ipu.start))}
    found = []
    for ipu in short:
        held, mine = active_at(others, ipu.start), active_at(spurts, ipu.start)
        if held is None or mine is None or held.end <= ipu.end or mine.duration > held.duration:
            continue
        if active_at(utterances, ipu.start) not in longer:
            found.append(ipu)
    return tuple(found)


def is_short(ipu: Interval, words: Sequence[Word] | None, rule: Rule, thresholds: Thresholds) -> bool:
    """Short enough by the rule, and, where there are words, no interruption by its first word."""
    strict = rule != "duet"
    limit = thresholds.backchannel_max_s
    if at_least(ipu.duration, limit) if strict else not at_most(ipu.duration, limit):
        return False
    if words is None:
        return True
    said = within(words, ipu)
    if len(said) > (1 if rule == "fdb_paper" else thresholds.backchannel_max_words):
        return False
    text = plain(text_of(said)) + " "
    return not any(text.startswith(start + " ") for start in INTERRUPTING)


def _over_pauses(thresholds: Thresholds) -> float:
    """`joined` keeps a silence of exactly its limit; a pause of exactly the longest is still one."""
    return thresholds.pause_max_s + 1e-5
