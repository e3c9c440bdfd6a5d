"""Floor transfers: who takes over from whom, and when. Signed, never clamped.

FTO = start of the next speaker's turn less end of the previous speaker's. Left out of it, and
marked: the greeting, turns inside the other's turn, premature and simultaneous starts, and lapses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evals.conversation import ChannelName
from evals.events import event
from evals.intervals import Interval, at_least, at_most
from evals.metrics.build import Measured, distribution, per, share
from evals.results import Event
from evals.thresholds import Thresholds
from evals.turns import Talk


@dataclass(frozen=True, slots=True)
class Transfer:
    """`to` takes over from the other channel. tag: why it has no part in the metrics, "" where it has."""

    to: ChannelName
    before: Interval
    after: Interval
    tag: str = ""

    @property
    def offset_s(self) -> float:
        return round(self.after.start - self.before.end, 6)


def transfers(talk: Talk, thresholds: Thresholds) -> tuple[Transfer, ...]:
    """In order of time."""
    return tuple(_walk(talk, thresholds))


def _walk(talk: Talk, thresholds: Thresholds) -> Iterator[Transfer]:
    left_out = set(talk.premature)
    holder: Interval | None = None
    who: ChannelName = "user"
    for turn, channel in _in_order(talk):
        if holder is None or channel == who:
            holder, who = (turn if holder is None or turn.end > holder.end else holder), channel
            continue
        if at_most(turn.end, holder.end):
            if turn not in left_out:
                yield Transfer(channel, holder, turn, "within_overlap")
            continue
        yield Transfer(channel, holder, turn, _tag(talk, holder, turn, channel, thresholds))
        holder, who = turn, channel


def _in_order(talk: Talk) -> list[tuple[Interval, ChannelName]]:
    turns: list[tuple[Interval, ChannelName]] = [(turn, "user") for turn in talk.user.turns]
    return sorted([*turns, *((turn, "agent") for turn in talk.agent.turns)])


def _tag(talk: Talk, holder: Interval, turn: Interval, to: ChannelName, thresholds: Thresholds) -> str:
    if to == "user" and holder in talk.greeting:
        return "greeting"
    if to == "agent" and turn in talk.premature:
        return "premature"
    if not at_least(turn.start - holder.start, thresholds.simultaneous_s):
        return "simultaneous"
    return "" if at_most(abs(turn.start - holder.end), thresholds.lapse_s) else "lapse"


def measure(talk: Talk, thresholds: Thresholds) -> Measured:
    found = transfers(talk, thresholds)
    kept = [t for t in found if not t.tag]
    inside = [t for t in found if t.tag == "within_overlap"]
    lapses = [t for t in found if t.tag == "lapse"]
    answers = [t.offset_s for t in kept if t.to == "agent"]
    rule = "next turn's start less previous turn's end, signed"
    metrics = (
        distribution("fto_user_to_agent", answers, rule),
        distribution("fto_agent_to_user", (t.offset_s for t in kept if t.to == "user"), rule),
        distribution("fto_fdb_clamped", (max(0.0, v) for v in answers), "FDB: negative offsets as 0"),
        distribution("fto_positive_only", (v for v in answers if v >= 0), "FLEXI: negative offsets left out"),
        share("overlap_start_rate", (v < 0 for v in answers), "user-to-agent offsets below 0"),
        share(
            "lapse_rate",
            [*(True for _ in lapses), *(False for _ in kept)],
            f"transfers with an offset beyond {thresholds.lapse_s:g} s either way",
        ),
        per(
            "within_overlap_per_min",
            len(inside),
            talk.shared_minutes,
            n=len(inside),
            unit="per_min",
            rule="turns inside the other speaker's turn",
            scoring="inferred",
        ),
    )
    return Measured(metrics, (*(_event(t, talk) for t in found), *_greetings(talk)))


def _event(transfer: Transfer, talk: Talk) -> Event:
    if transfer.tag == "within_overlap":
        side = talk.side(transfer.to)
        return event("within_overlap", transfer.to, transfer.after, side.words, value=transfer.after.duration)
    low, high = sorted((transfer.before.end, transfer.after.start))
    to_agent = transfer.to == "agent"
    return event(
        "response" if to_agent else "transfer_to_user",
        transfer.to,
        Interval(low, high),
        value=transfer.offset_s,
        metric="fto_user_to_agent" if to_agent else "fto_agent_to_user",
        rule="next turn's start less previous turn's end",
        evaluable=not transfer.tag,
        why_not=transfer.tag,
        tags=(transfer.tag,) if transfer.tag else (),
    )


def _greetings(talk: Talk) -> list[Event]:
    return [
        event("greeting", "agent", turn, talk.agent.words, value=turn.duration, metric="greeting_s")
        for turn in talk.greeting
    ]
