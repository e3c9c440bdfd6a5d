"""What waits for a client that reads slowly."""

from __future__ import annotations

import asyncio

import pytest

from server.actions import Send
from server.outbox import Outbox

FRAME = Send(b"audio", frames=1, arrived=0.0)


def test_messages_leave_in_the_order_they_came() -> None:
    async def scene() -> list[str | bytes]:
        outbox, taken = Outbox(1.0), []
        for text in ("a", "b"):
            outbox.put(Send(text))
        for _ in range(2):
            taken.append((await outbox.take()).data)
            outbox.written()
        await outbox.emptied()
        return taken

    assert asyncio.run(scene()) == ["a", "b"]


def test_ten_seconds_of_audio_fit_and_not_a_frame_more() -> None:
    outbox = Outbox(10.0)
    assert all(outbox.put(FRAME) for _ in range(125))
    assert not outbox.put(FRAME)
    assert outbox.put(Send("a text still fits"))


def test_other_messages_are_bounded_too() -> None:
    outbox = Outbox(10.0)
    assert sum(outbox.put(Send("error")) for _ in range(1000)) == 500


def test_a_whole_inbox_answered_at_once_fits_twice_however_small_the_outbox_is() -> None:
    outbox = Outbox(1.0)
    assert sum(outbox.put(FRAME) for _ in range(100)) == 50


def test_a_message_counts_as_waiting_until_it_is_written() -> None:
    async def scene() -> None:
        outbox = Outbox(10.0)
        for _ in range(125):
            outbox.put(FRAME)
        await outbox.take()
        assert not outbox.put(FRAME)
        outbox.written()
        assert outbox.put(FRAME)

    asyncio.run(scene())


def test_a_closed_outbox_swallows_everything_and_holds_nobody_up() -> None:
    async def scene() -> None:
        outbox = Outbox(10.0)
        outbox.put(FRAME)
        outbox.close()
        assert outbox.put(FRAME)
        outbox.written()
        await outbox.emptied()

    asyncio.run(scene())


def test_whoever_waits_for_a_message_gets_the_one_that_comes() -> None:
    async def scene() -> str | bytes:
        outbox = Outbox(1.0)
        waiting = asyncio.create_task(outbox.take())
        await asyncio.sleep(0)
        outbox.put(Send("late"))
        return (await waiting).data

    assert asyncio.run(scene()) == "late"


def test_answers_of_any_length_are_bounded_by_their_bytes() -> None:
    outbox = Outbox(10.0)
    assert outbox.put(Send("x" * 3_000_000))  # nobody owes anything else
    assert not outbox.put(Send("x"))

    outbox = Outbox(10.0)
    assert sum(outbox.put(Send("x" * 100_000)) for _ in range(500)) == 20  # of 2,048,000 bytes


def test_what_is_written_makes_room_for_as_many_bytes() -> None:
    async def scene() -> None:
        outbox = Outbox(10.0)
        outbox.put(Send("x" * 2_000_000))
        assert not outbox.put(Send("x" * 100_000))
        await outbox.take()
        outbox.written()
        assert outbox.put(Send("x" * 2_000_000))

    asyncio.run(scene())


HOUR_S = 3_600.0


def held() -> Outbox:
    """With a welcome that is due in an hour."""
    outbox = Outbox(10.0)
    outbox.put(Send("welcome"))
    outbox.put(Send("its details"))
    outbox.hold(HOUR_S)
    return outbox


async def rest(outbox: Outbox) -> list[str | bytes]:
    """What leaves without waiting for anything else."""
    taken: list[str | bytes] = []
    while outbox._waiting:
        taken.append((await outbox.take()).data)
        outbox.written()
    return taken


def test_what_is_held_leaves_when_its_time_has_come() -> None:
    async def scene() -> None:
        outbox = Outbox(10.0)
        outbox.put(Send("welcome"))
        outbox.hold(0.01)
        due = asyncio.get_running_loop().time() + 0.009
        assert (await outbox.take()).data == "welcome"
        assert asyncio.get_running_loop().time() >= due

    asyncio.run(scene())


def test_what_is_held_does_not_leave_before_even_if_somebody_waits_for_it() -> None:
    async def scene() -> None:
        outbox = Outbox(10.0)
        waiting = asyncio.create_task(outbox.take())
        await asyncio.sleep(0)
        outbox.put(Send("welcome"))
        outbox.hold(HOUR_S)
        for _ in range(5):
            await asyncio.sleep(0)
        assert not waiting.done()
        outbox.put(Send("answer"))
        await waiting
        assert await rest(outbox) == ["welcome", "answer"]

    asyncio.run(scene())


def test_whatever_follows_brings_all_that_is_held_first() -> None:
    async def scene() -> None:
        outbox = held()
        outbox.put(FRAME)
        assert await rest(outbox) == ["welcome", "its details", b"audio"]

    asyncio.run(scene())


def test_who_is_seen_off_does_not_wait_for_what_is_held() -> None:
    async def scene() -> None:
        outbox = held()
        leaving = asyncio.create_task(outbox.emptied())
        await asyncio.sleep(0)
        assert await rest(outbox) == ["welcome", "its details"]
        await leaving

    asyncio.run(scene())


def test_no_time_is_no_hold_and_nothing_is_held_where_nothing_waits() -> None:
    async def scene() -> None:
        outbox = Outbox(10.0)
        outbox.hold(HOUR_S)
        outbox.put(Send("a"))
        outbox.hold(0.0)
        assert await rest(outbox) == ["a"]

    asyncio.run(scene())


def test_seeing_off_has_an_end_and_may_be_hurried() -> None:
    async def scene() -> None:
        outbox = Outbox(HOUR_S)
        outbox.put(FRAME)
        leaving = asyncio.create_task(outbox.emptied())
        await asyncio.sleep(0)
        outbox.hurry(0.0)
        for late in (leaving, outbox.emptied()):
            with pytest.raises(TimeoutError):
                await late

    asyncio.run(scene())
