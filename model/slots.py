"""Who sits where in the batch, and what each has waiting: pure books, no threads, no tensors.

A slot is reused; its generation is not. A ticket of an earlier generation opens nothing.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from audio.frames import FRAME_MS, Samples
from model.config import Sampling
from model.steps import EngineFull, InboxFull, Ticket
from model.text import TextDecoder

INBOX_FRAMES = 25
"""Frames that may wait per session: 2 s."""
GATHER_S = 0.003
"""Longest that a frame waits for company while nothing else is to be done."""
_FRAME_S = FRAME_MS / 1000


@dataclass(frozen=True, slots=True)
class Waiting:
    """A frame in line, and when its last sample reached the server (monotonic seconds)."""

    samples: Samples
    arrived: float


@dataclass(slots=True)
class Seat:
    """One slot's current owner."""

    ticket: Ticket
    sampling: Sampling
    text: TextDecoder
    inbox: deque[Waiting] = field(default_factory=deque)
    answered: int = 0
    joined: bool = False  # the runtime has made its row fresh
    dead: bool = False  # a step failed under it
    last_arrived: float = -math.inf  # of the newest frame


class SlotTable:
    """Acquire and release slots; put and take frames. Lowest free slot first."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._seats: dict[int, Seat] = {}
        self._generations = [0] * capacity

    def acquire(self, sampling: Sampling, text: TextDecoder) -> Ticket:
        """Raises EngineFull when every slot is taken."""
        slot = next((s for s in range(self.capacity) if s not in self._seats), None)
        if slot is None:
            raise EngineFull(f"all {self.capacity} slots are taken")
        self._generations[slot] += 1
        ticket = Ticket(slot, self._generations[slot])
        self._seats[slot] = Seat(ticket, sampling, text)
        return ticket

    def release(self, ticket: Ticket) -> None:
        """Frees the slot and drops what waits; a stale ticket frees nothing."""
        if self.find(ticket) is not None:
            del self._seats[ticket.slot]

    def find(self, ticket: Ticket) -> Seat | None:
        seat = self._seats.get(ticket.slot)
        return seat if seat is not None and seat.ticket == ticket else None

    def put(self, ticket: Ticket, frame: Waiting) -> None:
        """Raises InboxFull past INBOX_FRAMES; a stale or dead ticket's frame goes nowhere."""
        seat = self.find(ticket)
        if seat is None or seat.dead:
            return
        if len(seat.inbox) >= INBOX_FRAMES:
            raise InboxFull(f"a session may have at most {INBOX_FRAMES} frames waiting")
        seat.inbox.append(frame)
        seat.last_arrived = frame.arrived

    def newcomers(self) -> list[Seat]:
        """Seats whose row the runtime has not made fresh yet."""
        return [seat for seat in self._seats.values() if not seat.joined]

    def take(self, limit: int) -> list[tuple[Seat, Waiting]]:
        """At most one frame of each ready session, the most late first."""
        ready = [s for s in self._seats.values() if s.inbox and s.joined and not s.dead]
        ready.sort(key=lambda seat: seat.inbox[0].arrived)
        return [(seat, seat.inbox.popleft()) for seat in ready[:limit]]

    def gather_until(self, now: float) -> float:
        """Until when an idle engine does best to wait for more; `now` or earlier: not at all.

        It waits for sessions whose next frame is due before the oldest waiting one has waited GATHER_S.
        """
        live = [s for s in self._seats.values() if s.joined and not s.dead]
        oldest = min((s.inbox[0].arrived for s in live if s.inbox), default=now)
        limit = oldest + GATHER_S
        due = [s.last_arrived + _FRAME_S for s in live if not s.inbox]
        return limit if any(now - GATHER_S <= time <= limit for time in due) else now

    def has_work(self) -> bool:
        return any(not s.joined or (s.inbox and not s.dead) for s in self._seats.values())

    def seats(self) -> list[Seat]:
        return list(self._seats.values())
