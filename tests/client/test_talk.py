"""A conversation in the terminal, with a voice and a loudspeaker that are no devices."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator

import duet_client
from duet_client.speaker import PlayBuffer
from duet_client.talk import converse
from tests.client.echo_server import NONE, EchoServer, Trouble

BLOCK = bytes(range(1, 241)) * 16  # 3840 bytes without a zero: one frame


async def voice(blocks: int) -> AsyncIterator[bytes]:
    for _ in range(blocks):
        yield BLOCK


def talk(blocks: int, trouble: Trouble = NONE) -> tuple[PlayBuffer, str, str]:
    speaker, words, notices = PlayBuffer(), io.StringIO(), io.StringIO()

    async def run() -> None:
        async with EchoServer(trouble).running() as server, duet_client.connect(server.url) as session:
            await converse(session, voice(blocks), speaker, words, notices)

    asyncio.run(run())
    return speaker, words.getvalue(), notices.getvalue()


def test_the_agent_is_heard_and_its_words_are_shown() -> None:
    speaker, words, notices = talk(6)
    assert speaker.pull(6 * len(BLOCK)) == BLOCK * 6
    assert words == " w1 w6"
    assert notices.splitlines() == [
        "[voice_unsupported] the echo has no voice of its own",
        "",
        "The session ended: close_requested.",
    ]


def test_a_server_that_hangs_up_ends_the_conversation() -> None:
    _, words, notices = talk(40, Trouble(close_at=3))
    assert words == " w1"
    assert notices.endswith("The session ended: expired.\n")
