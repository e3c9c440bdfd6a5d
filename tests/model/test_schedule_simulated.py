"""The real scheduler's books on a simulated clock: who waits how long when steps take modelled time.

Sessions talk at 12.5 frames a second with their own phases; a frame is answered when its step ends.
The policies that Duet does not use are simulated beside it, with the same arrivals and step times
(75 % of the published H100 roofline at a mean context of 1,500: 6.75 ms + 0.366 ms a row).
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np
import pytest

from audio.frames import silence
from model.config import Sampling
from model.slots import SlotTable, Waiting
from model.steps import Ticket
from model.text import TextDecoder
from server.phases import Phases as Welcomes
from tests.model.counting_runtime import Letters

FRAME_S = 0.08
SECONDS = 20.0

Cost = Callable[[int], float]
Phases = Callable[[int], list[float]]


def compact(rows: int) -> float:
    """A step of the ready rows."""
    return 0.00675 + 0.000366 * rows


def masked(capacity: int) -> Cost:
    """A step that always computes every row."""
    return lambda _: compact(capacity)


@dataclass
class Outcome:
    """latency: seconds from a frame's arrival to its answer, sorted. batches: rows of each step."""

    latency: list[float]
    batches: list[int]

    def quantile(self, q: float) -> float:
        return self.latency[int(q * (len(self.latency) - 1))]


def by_chance(sessions: int) -> list[float]:
    """When in a frame's time each session speaks: calls begin when people call."""
    rng = random.Random(2)
    return [rng.random() * FRAME_S for _ in range(sessions)]


def spread(sessions: int) -> list[float]:
    return [FRAME_S * n / sessions for n in range(sessions)]


def together(sessions: int) -> list[float]:
    return [0.0] * sessions


def welcomed(sessions: int) -> list[float]:
    """All come in one moment, and each begins when the server's own rule welcomes it."""
    welcomes = Welcomes(spreading=True)
    return [welcomes.welcome(str(session), 0.0) for session in range(sessions)]


def arrivals(phases: list[float], seed: int = 1) -> list[tuple[float, int]]:
    """(time, session), in time's order; jitter as a good network's: exponential, 5 ms, at most 40."""
    rng = random.Random(seed)
    frames = int(SECONDS / FRAME_S)
    return sorted(
        (phase + n * FRAME_S + min(rng.expovariate(200.0), 0.04), session)
        for session, phase in enumerate(phases)
        for n in range(frames)
    )


class Simulation:
    """Drives a SlotTable as the engine does: as soon as it is free and somebody is ready."""

    def __init__(self, sessions: int, phases: Phases = by_chance) -> None:
        self.table = SlotTable(sessions)
        self.tickets: list[Ticket] = [
            self.table.acquire(Sampling(), TextDecoder(Letters())) for _ in range(sessions)
        ]
        for seat in self.table.newcomers():
            seat.joined = True
        self._coming = arrivals(phases(sessions))
        heapq.heapify(self._coming)

    def let_in(self, now: float) -> None:
        while self._coming and self._coming[0][0] <= now:
            time, session = heapq.heappop(self._coming)
            self.table.put(self.tickets[session], Waiting(silence(), time))

    @property
    def next_arrival(self) -> float | None:
        return self._coming[0][0] if self._coming else None

    def begin(self, now: float) -> Generator[float, float, None]:
        """Yields the moments at which the engine would begin a step."""
        while True:
            idle = not self.table.has_work()
            if idle:
                if self.next_arrival is None:
                    return
                now = self.next_arrival
                self.let_in(now)
                while (until := self.table.gather_until(now)) > now:
                    now = min(until, self.next_arrival or until)
                    self.let_in(now)
            now = max(now, (yield now) or now)
            self.let_in(now)


def as_soon_as_ready(sessions: int, cost: Cost, phases: Phases = by_chance) -> Outcome:
    simulation = Simulation(sessions, phases)
    outcome = Outcome([], [])
    moments = simulation.begin(0.0)
    now = next(moments, None)
    while now is not None:
        batch = simulation.table.take(sessions)
        done = now + cost(len(batch))
        outcome.latency += [done - waiting.arrived for _, waiting in batch]
        outcome.batches.append(len(batch))
        try:
            now = moments.send(done)
        except StopIteration:
            now = None
    outcome.latency.sort()
    return outcome


def ticking(sessions: int, cost: Cost) -> Outcome:
    """A step every 80 ms, whoever is ready then."""
    simulation = Simulation(sessions)
    outcome = Outcome([], [])
    now = 0.0
    while simulation.next_arrival is not None or simulation.table.has_work():
        simulation.let_in(now)
        batch = simulation.table.take(sessions)
        done = now + cost(len(batch))
        outcome.latency += [done - waiting.arrived for _, waiting in batch]
        now += FRAME_S
    outcome.latency.sort()
    return outcome


@pytest.mark.parametrize("sessions", [40, 80])
def test_stepping_as_soon_as_anybody_is_ready_beats_a_tick(sessions: int) -> None:
    ready, tick = as_soon_as_ready(sessions, compact), ticking(sessions, compact)
    assert ready.quantile(0.5) < tick.quantile(0.5) / 3
    assert ready.quantile(0.99) < tick.quantile(0.99) / 3


def test_a_batch_of_the_ready_beats_a_full_batch_with_a_mask() -> None:
    ready, full = as_soon_as_ready(120, compact), as_soon_as_ready(120, masked(120))
    assert ready.quantile(0.5) < full.quantile(0.5)
    assert ready.quantile(0.99) < full.quantile(0.99) / 1.5


@pytest.mark.parametrize(("sessions", "p50_ms"), [(40, 12.7), (80, 16.0), (120, 22.7)])
def test_the_study_s_latencies_come_out(sessions: int, p50_ms: float) -> None:
    """Shared study, scheduling: as soon as ready, compact batch, on an H100 at a context of 1,500."""
    assert 1000 * as_soon_as_ready(sessions, compact).quantile(0.5) == pytest.approx(p50_ms, rel=0.35)


@pytest.mark.parametrize("sessions", [40, 80, 120])
def test_phases_by_chance_are_nearly_as_good_as_phases_spread_evenly(sessions: int) -> None:
    """Why a running session's phase is left as it is: to move it, sound would have to be cut or put in."""
    chance, even = (as_soon_as_ready(sessions, compact, phases) for phases in (by_chance, spread))
    assert chance.quantile(0.5) < 1.02 * even.quantile(0.5)
    assert chance.quantile(0.99) < 1.06 * even.quantile(0.99)


def test_calls_that_begin_in_one_moment_wait_twice_as_long_and_are_on_time_all_the_same() -> None:
    even, crowd = (as_soon_as_ready(80, compact, phases) for phases in (spread, together))
    assert crowd.quantile(0.5) == pytest.approx(1.9 * even.quantile(0.5), rel=0.1)
    assert crowd.quantile(0.999) < 0.6 * FRAME_S


@pytest.mark.parametrize(("sessions", "p50_ms", "p99_ms"), [(80, 16.4, 24.6), (120, 22.6, 31.3)])
def test_welcomed_in_turn_they_wait_hardly_longer_than_spread_evenly(
    sessions: int, p50_ms: float, p99_ms: float
) -> None:
    """Of 80 that begin in one moment: p50 16 ms instead of 30, p99 25 instead of 43."""
    turns, even, crowd = (
        as_soon_as_ready(sessions, compact, phases) for phases in (welcomed, spread, together)
    )
    assert 1000 * turns.quantile(0.5) == pytest.approx(p50_ms, rel=0.01)
    assert 1000 * turns.quantile(0.99) == pytest.approx(p99_ms, rel=0.01)
    assert turns.quantile(0.5) < 1.03 * even.quantile(0.5)
    assert turns.quantile(0.99) < 1.15 * even.quantile(0.99)
    assert turns.quantile(0.5) < 0.55 * crowd.quantile(0.5)
    assert turns.quantile(0.99) < 0.6 * crowd.quantile(0.99)


def test_nobody_is_forgotten_and_nobody_waits_long_below_the_time_bound() -> None:
    outcome = as_soon_as_ready(120, compact)
    assert len(outcome.latency) == 120 * int(SECONDS / FRAME_S)
    assert outcome.quantile(0.999) < FRAME_S


def test_a_lone_session_is_never_kept_waiting_for_company() -> None:
    outcome = as_soon_as_ready(1, compact)
    assert np.allclose(outcome.latency, compact(1))


def test_two_sessions_that_speak_together_are_stepped_together() -> None:
    table = SlotTable(2)
    tickets = [table.acquire(Sampling(), TextDecoder(Letters())) for _ in range(2)]
    for seat in table.newcomers():
        seat.joined = True
    for n, ticket in enumerate(tickets):
        table.put(ticket, Waiting(silence(), 10.0 + 0.001 * n))
    assert len(table.take(2)) == 2
    table.put(tickets[0], Waiting(silence(), 10.08))
    assert table.gather_until(10.08) == pytest.approx(10.083)
    table.put(tickets[1], Waiting(silence(), 10.081))
    assert table.gather_until(10.081) == 10.081
