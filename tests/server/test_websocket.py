"""Messages larger than the server takes."""

from __future__ import annotations

import asyncio

from tests.server.serving import WAIT_S, running, talking
from tests.server.test_transport import START, handshake, masked

LIMIT = 65_536


def test_a_message_of_the_largest_size_is_taken_and_one_byte_more_is_not() -> None:
    async def scene() -> None:
        async with running(max_message_bytes=LIMIT) as here, talking(here.live) as client:
            await client.start()
            await client.socket.send("x" * LIMIT)
            await client.socket.send("x" * (LIMIT + 1))
            events = await client.hear_out()
            codes = [event["error"]["code"] for event in events if event["type"] == "error"]
            assert codes == ["invalid_json", "message_too_big"]
            last = [event["error"]["message"] for event in events if event["type"] == "error"][-1]
            assert last == "a message may have at most 65536 bytes (--max-message-bytes)"
            assert events[-1]["type"] == "session.closed"
            assert client.close_code == 1009

    asyncio.run(scene())


def test_a_message_that_announces_a_gigabyte_is_stopped_before_it_has_come() -> None:
    async def scene() -> None:
        async with running(max_message_bytes=LIMIT) as here:
            reader, writer = await handshake(here)
            writer.write(START)
            writer.write(bytes([0x82, 0xFF]) + (1 << 30).to_bytes(8, "big") + bytes(4))
            async with asyncio.timeout(WAIT_S):
                for _ in range(20):  # 1.3 MB of it
                    writer.write(bytes(LIMIT))
                    await writer.drain()
                answer = await reader.readuntil((1009).to_bytes(2, "big"))
            assert b"a message may have at most 65536 bytes" in answer
            writer.transport.abort()

    asyncio.run(scene())


def test_a_message_in_ever_more_fragments_is_stopped_though_pings_come_between() -> None:
    async def scene() -> None:
        async with running(max_message_bytes=LIMIT) as here:
            reader, writer = await handshake(here)
            writer.write(START + bytes([0x02, 0xFE]) + (1000).to_bytes(2, "big") + bytes(4) + bytes(1000))
            ping = bytes([0x89, 0x80]) + bytes(4)
            async with asyncio.timeout(WAIT_S):
                for _ in range(700):
                    writer.write(
                        bytes([0x00, 0xFE]) + (1000).to_bytes(2, "big") + bytes(4) + bytes(1000) + ping
                    )
                    await writer.drain()
                answer = await reader.readuntil((1009).to_bytes(2, "big"))
            assert b"a message may have at most 65536 bytes" in answer
            writer.transport.abort()

    asyncio.run(scene())


def test_pings_are_no_part_of_a_message_however_many_come() -> None:
    async def scene() -> None:
        async with running(max_message_bytes=LIMIT) as here, talking(here.live) as client:
            await client.start()
            ping = masked(9, bytes(125))
            for _ in range(100):  # 1.3 MB in all
                client.socket.transport.write(ping * 100)
                await asyncio.sleep(0)
            await client.say("session.input_audio.mute")
            assert (await client.hear())["type"] == "session.input_audio.muted"

    asyncio.run(scene())
