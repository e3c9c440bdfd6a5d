"""What waits for a client that reads slowly."""

from __future__ import annotations

import asyncio

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
