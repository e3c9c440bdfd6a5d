"""IPUs, and the four corpus quantities of dGSLM (arXiv 2203.16502): IPU, pause, gap, overlap.

Strict on the IPUs of both channels: what is a backchannel or a turn plays no part.
Refuses to know samples.
"""

from __future__ import annotations

from dataclasses import dataclass

from evals.intervals import EPSILON_S, Interval, Intervals, intersections, joined
from evals.thresholds import Thresholds


def ipus(activity: Intervals, thresholds: Thresholds) -> Intervals:
    """One channel's speech between silences; a silence of exactly the limit splits."""
    return joined(activity, thresholds.ipu_gap_s)


@dataclass(frozen=True, slots=True)
class Floor:
    """What two channels' IPUs make of a recording: IPUs - overlaps + pauses + gaps + edges = duration.

    pauses: silence between two IPUs of one speaker. gaps: between IPUs of different speakers; where
    both stop or both start at once, it is a gap. edges: silence before the first and after the last.
    """

    overlaps: Intervals
    pauses: Intervals
    gaps: Intervals
    edges: Intervals


@dataclass(frozen=True, slots=True)
class _Sound:
    """A stretch in which somebody speaks, and who begins and who ends it."""

    start: float
    end: float
    first: frozenset[str]
    last: frozenset[str]


def floor(user: Intervals, agent: Intervals, duration_s: float) -> Floor:
    """The sorted IPUs of both channels, to what lies between them."""
    pauses: list[Interval] = []
    gaps: list[Interval] = []
    edges: list[Interval] = []
    sounds = _sounds(user, agent)
    for before, after in zip(sounds, sounds[1:], strict=False):
        same = before.last == after.first and len(before.last) == 1
        (pauses if same else gaps).append(Interval(before.end, after.start))
    bounds = (0.0, sounds[0].start, sounds[-1].end, duration_s) if sounds else (0.0, duration_s)
    for start, end in zip(bounds[::2], bounds[1::2], strict=True):
        if end - start > EPSILON_S:
            edges.append(Interval(start, end))
    return Floor(intersections(user, agent), tuple(pauses), tuple(gaps), tuple(edges))


def _sounds(user: Intervals, agent: Intervals) -> list[_Sound]:
    found: list[_Sound] = []
    for ipu, who in sorted([(ipu, "user") for ipu in user] + [(ipu, "agent") for ipu in agent]):
        me = frozenset((who,))
        if not found or ipu.start - found[-1].end > EPSILON_S:
            found.append(_Sound(ipu.start, ipu.end, me, me))
            continue
        sound = found[-1]
        first = sound.first | me if abs(ipu.start - sound.start) <= EPSILON_S else sound.first
        last = sound.last if ipu.end < sound.end - EPSILON_S else me
        if abs(ipu.end - sound.end) <= EPSILON_S:
            last = sound.last | me
        found[-1] = _Sound(sound.start, max(sound.end, ipu.end), first, last)
    return found
