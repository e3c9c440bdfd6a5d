"""The async client against a real WebSocket server."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
import pytest

import duet_client
from duet_client import wire
from tests.client.echo_server import NONE, EchoServer, Trouble
from tests.server.certificates import make_pair

FRAME = bytes(range(256)) * 15  # 3840 bytes: one frame


def with_server(
    use: Callable[[EchoServer], Awaitable[None]], trouble: Trouble = NONE, api_key: str = ""
) -> EchoServer:
    server = EchoServer(trouble, api_key)

    async def run() -> None:
        async with server.running():
            await use(server)

    asyncio.run(run())
    return server


async def call(server: EchoServer, audio: bytes, *, binary: bool = True) -> list[wire.Event]:
    async with duet_client.connect(server.url, binary=binary) as session:
        await session.send_audio(audio)
        await session.close()
        return [event async for event in session]


@pytest.mark.parametrize("binary", [True, False])
def test_a_call_hears_its_answer_and_ends_with_session_closed(binary: bool) -> None:
    async def use(server: EchoServer) -> None:
        events = await call(server, FRAME * 2, binary=binary)
        assert events == [
            wire.Info("voice_unsupported", "the echo has no voice of its own"),
            wire.OutputAudioDelta(FRAME),
            wire.OutputTranscriptDelta(" w1", 0, 80),
            wire.OutputAudioDelta(FRAME),
            wire.UsageUpdated(0.16, 0.25),
            wire.SessionClosed("close_requested", events[-1].session, 0.16),  # type: ignore[union-attr]
        ]

    server = with_server(use)
    sent = server.commands[1:-1]
    assert sent == ([FRAME * 2] if binary else [wire.InputAudioAppend(FRAME * 2)])
    assert server.paths == ["/v1/live/sessions" + ("?audio=binary" if binary else "")]


def test_the_start_carries_what_was_asked_for() -> None:
    async def use(server: EchoServer) -> None:
        async with duet_client.connect(
            server.url,
            model="m",
            audio_format=duet_client.AudioFormat("audio/pcma", 8000),
            instructions="i",
            voice="v",
            store=True,
            sampling=duet_client.DuetOptions(seed=7),
        ) as session:
            assert (session.id, session.started.session["model"]) == ("sess_1", "echo")

    expected = wire.SessionStart(
        "m", wire.AudioFormat("audio/pcma", 8000), "i", "v", True, wire.DuetOptions(seed=7)
    )
    assert with_server(use).commands == [expected]


def test_long_audio_travels_in_messages_of_a_second_at_most() -> None:
    async def use(server: EchoServer) -> None:
        await call(server, FRAME * 30)

    pieces = [command for command in with_server(use).commands if isinstance(command, bytes)]
    assert [len(piece) for piece in pieces] == [48_000, 48_000, 19_200]
    assert b"".join(pieces) == FRAME * 30


def test_samples_are_sent_as_16_bit_pcm() -> None:
    async def use(server: EchoServer) -> None:
        async with duet_client.connect(server.url) as session:
            await session.send_audio(np.full(1920, 0.25))
            await session.close()
            audio = [e.audio async for e in session if isinstance(e, wire.OutputAudioDelta)]
        assert duet_client.to_samples(b"".join(audio)).tolist() == [0.25] * 1920

    with_server(use)


def test_samples_in_a_g711_session_are_refused() -> None:
    async def use(server: EchoServer) -> None:
        async with duet_client.connect(server.url, audio_format=wire.AudioFormat("audio/pcmu", 8000)) as s:
            with pytest.raises(ValueError, match="audio/pcmu"):
                await s.send_audio(np.zeros(640))

    with_server(use)


def test_mute_unmute_and_instructions_reach_the_server() -> None:
    async def use(server: EchoServer) -> None:
        async with duet_client.connect(server.url) as session:
            await session.mute()
            await session.unmute()
            await session.append_instructions("Be kind.")
            await session.close()
            events = [event async for event in session]
        assert [type(event) for event in events[1:3]] == [wire.Muted, wire.Unmuted]
        await session.close()  # closing what is closed asks for nothing

    commands = with_server(use).commands
    assert commands[1:] == [wire.Mute(), wire.Unmute(), wire.InstructionsAppend("Be kind."), wire.Close()]


def test_a_full_server_says_when_to_come_back() -> None:
    async def use(server: EchoServer) -> None:
        with pytest.raises(duet_client.ServerFull, match="all 4 places are taken") as caught:
            await call(server, FRAME)
        assert caught.value.retry_after_s == 7.0

    with_server(use, Trouble(full=True))


def test_a_missing_key_is_unauthorised_and_the_right_one_is_let_in() -> None:
    async def use(server: EchoServer) -> None:
        with pytest.raises(duet_client.Unauthorized, match=r"asks for a key .*variable DUET_API_KEY"):
            await call(server, FRAME)
        async with duet_client.connect(server.url, api_key="k") as session:
            assert session.id == "sess_1"

    with_server(use, api_key="k")


def test_a_refused_start_names_the_field() -> None:
    async def use(server: EchoServer) -> None:
        with pytest.raises(duet_client.StartRefused, match="no such model") as caught:
            await call(server, FRAME)
        assert (caught.value.code, caught.value.param) == ("invalid_value", "session.model")

    with_server(use, Trouble(refuse_start=True))


def test_a_server_that_vanishes_is_a_lost_session_after_all_that_came_before() -> None:
    async def use(server: EchoServer) -> None:
        async with duet_client.connect(server.url) as session:
            await session.send_audio(FRAME * 3)
            heard = [type(await anext(session)) for _ in range(4)]
            assert heard.count(wire.OutputAudioDelta) == 2
            with pytest.raises(duet_client.SessionLost) as caught:
                await anext(session)
        assert caught.value.close_code == 1006

    with_server(use, Trouble(vanish_at=3))


def test_a_message_that_breaks_the_wire_is_a_wire_error() -> None:
    async def use(server: EchoServer) -> None:
        with pytest.raises(duet_client.WireError, match="code must be a string"):
            await call(server, FRAME)

    with_server(use, Trouble(garbage_at=1))


def test_nobody_listening_is_unreachable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        url = f"ws://127.0.0.1:{taken.getsockname()[1]}"

        async def run() -> None:
            async with duet_client.connect(url):
                pass

        with pytest.raises(duet_client.Unreachable, match="cannot be reached"):
            asyncio.run(run())


def test_tls_to_a_plain_server_is_told_with_the_other_scheme() -> None:
    async def use(server: EchoServer) -> None:
        with pytest.raises(duet_client.Unreachable, match=r"\(try ws:// if it speaks no TLS\)"):
            async with duet_client.connect(server.url.replace("ws:", "wss:")):
                pass

    with_server(use)


def test_tls_to_a_plain_server_that_answers_is_told_the_same() -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async def run() -> None:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(duet_client.Unreachable, match=r"does not answer with TLS.*\(try ws://"):
                async with duet_client.connect(f"wss://127.0.0.1:{port}"):
                    pass

    asyncio.run(run())


def test_no_tls_to_a_server_that_speaks_it_is_told_with_the_other_scheme(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*make_pair(tmp_path))

    async def run() -> None:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=context)
        async with server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(duet_client.Unreachable, match=r"not answer as a WebSocket.*try wss://"):
                async with duet_client.connect(f"ws://127.0.0.1:{port}"):
                    pass
            with pytest.raises(duet_client.Unreachable, match="cannot be trusted: self-signed certificate"):
                async with duet_client.connect(f"wss://127.0.0.1:{port}"):
                    pass

    asyncio.run(run())


def test_a_server_that_accepts_and_says_nothing_is_given_up_in_time() -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        url = f"ws://127.0.0.1:{mute.getsockname()[1]}"

        async def run() -> None:
            async with duet_client.connect(url, open_timeout_s=0.05):
                pass

        with pytest.raises(duet_client.Unreachable, match=r"within 0\.05 s"):
            asyncio.run(run())
