"""Which windows are heard next: the one that has waited longest, and with it others that cost little more.

Every channel of every call has at most one window in the queue, so none can crowd out another; those of final
transcripts wait a while longer than those of running calls. Refuses to know what a window holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duet_client.wire import Channel

FINAL_PATIENCE_S = 10.0
"""A window of a final transcript comes after those of running calls that have waited up to this much less."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A window that is due since a time. call: whose."""

    call: str
    channel: Channel
    since: float
    final: bool

    def late_s(self, now: float) -> float:
        return now - self.since - FINAL_PATIENCE_S * self.final


def chosen(waiting: Sequence[Waiting], now: float, most: int) -> list[Waiting]:
    """At most `most` of them, the latest first; equally late ones in a steady order."""
    return sorted(waiting, key=lambda each: (-each.late_s(now), each.call, each.channel))[:most]


def longest_s(waiting: Sequence[Waiting], now: float) -> float:
    """How long a window of a running call has been waiting at most."""
    return max((now - each.since for each in waiting if not each.final), default=0.0)
