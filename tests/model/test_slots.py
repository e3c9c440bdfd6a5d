"""The books of the batch."""

from __future__ import annotations

import random

import pytest

from audio.frames import silence
from model.config import Sampling
from model.slots import INBOX_FRAMES, SlotTable, Waiting
from model.steps import EngineFull, InboxFull, Ticket
from model.text import TextDecoder
from tests.model.counting_runtime import Letters


def seat(table: SlotTable) -> Ticket:
    return table.acquire(Sampling(), TextDecoder(Letters()))


def waiting(arrived: float) -> Waiting:
    return Waiting(silence(), arrived)


def settle(table: SlotTable) -> None:
    for newcomer in table.newcomers():
        newcomer.joined = True


def test_an_inbox_is_two_seconds() -> None:
    assert INBOX_FRAMES * 80 == 2000


def test_the_lowest_free_slot_is_taken_and_generations_never_repeat() -> None:
    table = SlotTable(2)
    a, b = seat(table), seat(table)
    assert (a.slot, b.slot) == (0, 1)
    table.release(a)
    again = seat(table)
    assert again.slot == 0
    assert again.generation == a.generation + 1


def test_releasing_twice_frees_nothing_of_the_next_owner() -> None:
    table = SlotTable(1)
    old = seat(table)
    table.release(old)
    new = seat(table)
    table.release(old)
    assert table.find(new) is not None
    with pytest.raises(EngineFull):
        seat(table)


def test_a_session_that_the_runtime_has_not_taken_in_is_not_stepped() -> None:
    table = SlotTable(1)
    ticket = seat(table)
    table.put(ticket, waiting(0.0))
    assert table.take(1) == []
    settle(table)
    assert [s.ticket for s, _ in table.take(1)] == [ticket]


def test_one_frame_each_most_late_first_and_no_more_than_the_limit() -> None:
    table = SlotTable(3)
    a, b, c = (seat(table) for _ in range(3))
    settle(table)
    for ticket, arrived in ((a, 3.0), (b, 1.0), (b, 1.1), (c, 2.0)):
        table.put(ticket, waiting(arrived))
    assert [s.ticket for s, _ in table.take(2)] == [b, c]
    assert [s.ticket for s, _ in table.take(2)] == [b, a]
    assert not table.has_work()


def test_the_books_hold_through_a_thousand_random_joins_frames_and_leaves() -> None:
    rng, table, mine = random.Random(1), SlotTable(4), dict[Ticket, int]()
    for _ in range(1000):
        action = rng.random()
        if action < 0.3 and len(mine) < 4:
            mine[seat(table)] = 0
        elif action < 0.4 and mine:
            gone = rng.choice(list(mine))
            table.release(gone)
            del mine[gone]
        elif action < 0.8 and mine:
            ticket = rng.choice(list(mine))
            if mine[ticket] == INBOX_FRAMES:
                with pytest.raises(InboxFull):
                    table.put(ticket, waiting(rng.random()))
            else:
                table.put(ticket, waiting(rng.random()))
                mine[ticket] += 1
        else:
            settle(table)
            for taken, _ in table.take(2):
                mine[taken.ticket] -= 1
        assert {s.ticket: len(s.inbox) for s in table.seats()} == mine
