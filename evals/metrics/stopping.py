"""When the agent stops: the one search that interruptions and false yields share."""

from __future__ import annotations

from dataclasses import dataclass

from evals.intervals import Interval, Intervals, active_at, at_least, at_most, joined, starting_in
from evals.thresholds import Thresholds
from evals.turns import Side


def utterances(speech: Intervals, thresholds: Thresholds) -> Intervals:
    """Speech over sentence pauses: a silence of the stop's length or more ends it."""
    return joined(speech, thresholds.stop_silence_s)


@dataclass(frozen=True, slots=True)
class Stop:
    """The agent's last sound. seen: False where the file ends with the agent speaking."""

    at_s: float
    seen: bool


def stop_after(
    speech: Intervals, onset_s: float, user_end_s: float, duration_s: float, thresholds: Thresholds
) -> Stop:
    """The end of the last sound before enough silence, or before a silence in which the user's turn ends.

    The agent speaks at `onset_s` or in less than a sentence pause from it.
    """
    current = active_at(speech, onset_s)
    following = list(starting_in(speech, onset_s, duration_s))
    if current is not None and current not in following:
        following.insert(0, current)
    for ipu, after in zip(following, [*following[1:], None], strict=True):
        if after is None or at_least(after.start - ipu.end, thresholds.stop_silence_s):
            return Stop(ipu.end, seen=not at_least(ipu.end, duration_s))
        if at_most(ipu.end, user_end_s) and at_most(user_end_s, after.start):
            return Stop(ipu.end, seen=True)
    return Stop(onset_s, seen=True)


def natural_end(side: Side, stop_s: float) -> bool:
    """The last word before the stop is complete and ends a sentence; False where there are no words."""
    said = [word for word in side.words or () if word.start < stop_s]
    last = max(said, key=lambda word: word.end, default=None)
    return (
        last is not None and last.end <= stop_s + 0.1 and last.text.rstrip("\"')").endswith((".", "?", "!"))
    )


def together(turn: Interval, others: Intervals, thresholds: Thresholds) -> Interval | None:
    """The other speaker's turn that begins at the same moment; sorted."""
    reach = thresholds.simultaneous_s
    near = starting_in(others, turn.start - reach, turn.start + reach)
    return next((other for other in near if not at_least(abs(other.start - turn.start), reach)), None)


def began_before(speech: Intervals, time_s: float) -> bool:
    """Somebody speaks at a time, and has since before it."""
    current = active_at(speech, time_s)
    return current is not None and not at_least(current.start, time_s)


def extent(start: float, end: float) -> Interval:
    return Interval(min(start, end), max(start, end))
