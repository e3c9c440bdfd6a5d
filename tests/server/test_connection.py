"""What a connection does when something breaks: in the model, in itself, or in the server's own code."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from websockets.frames import Frame, Opcode

from server.actions import Deed
from server.app import create_app
from server.call import Call, Setup
from server.config import ServerConfig
from server.hall import HALL, Hall, MakeCall
from server.live import LiveCall
from server.switchboard import Switchboard
from tests.server.echo_engine import EchoRuntime, echo_engine
from tests.server.serving import (
    WAIT_S,
    Logged,
    Running,
    Talker,
    audio_of,
    running,
    talking,
    tone,
    types_of,
)


async def ended(here: Running, reason: str) -> None:
    """Returns once a session has ended for this reason."""
    await counted(here, f'duet_sessions_ended_total{{reason="{reason}"}} 1.0')


async def counted(here: Running, line: str) -> None:
    """Returns once the metrics say so."""
    async with aiohttp.ClientSession(here.http) as http, asyncio.timeout(WAIT_S):
        while True:
            async with http.get("/metrics") as answer:
                if line in await answer.text():
                    return
            await asyncio.sleep(0.01)


def test_a_session_whose_model_fails_is_told_so_and_its_neighbour_goes_on() -> None:
    async def scene() -> None:
        async with running() as here, talking(here.live) as one, talking(here.live) as two:
            await one.start()
            await two.start()
            here.runtime.fail_slots.add(0)
            await one.speak(tone(1))
            events = await one.hear_out()
            assert [event["error"]["code"] for event in events if event["type"] == "error"] == ["model_error"]
            assert events[-1]["type"] == "session.closed"
            assert one.close_code == 1011
            await two.speak(tone(2))
            await two.say("session.close")
            assert audio_of(await two.hear_out())[-3840:] == tone(1)

    asyncio.run(scene())


def test_when_the_whole_model_fails_everybody_is_told_and_nobody_new_gets_in() -> None:
    async def scene() -> None:
        async with running() as here, talking(here.live) as client:
            await client.start()
            await client.speak(tone(1))
            await client.hear_until("session.output_audio.delta")
            here.runtime.fail_joins = True
            async with talking(here.live) as late:
                await late.start()
                for one in (client, late):
                    events = await one.hear_out()
                    assert [e["error"]["code"] for e in events if e["type"] == "error"] == ["model_error"]
                    assert one.close_code == 1011
            async with aiohttp.ClientSession() as http:
                for path, kind in (("/health", "model_failed"), ("/ready", "model_failed")):
                    async with http.get(here.http + path) as answer:
                        assert answer.status == 503
                        assert (await answer.json())["error"]["type"] == kind

    asyncio.run(scene())


class Brittle(LiveCall):
    """Breaks on the message that says so."""

    def receive(self, message: str | bytes, now: float) -> list[Deed]:
        if message == "break":
            raise ZeroDivisionError("a bug of ours")
        return super().receive(message, now)


@asynccontextmanager
async def speaking(make: MakeCall) -> AsyncIterator[tuple[str, Hall]]:
    """The address where every call is one of these, and the hall they are in."""

    async def handle(request: web.Request) -> web.StreamResponse:
        return await request.app[HALL].receive(request, make)

    board, runtime = Switchboard(), EchoRuntime(2)
    engine = echo_engine(runtime, board.on_step)
    engine.start()
    app = create_app(ServerConfig(keep="off"), engine, board)
    app.router.add_get("/call", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "localhost", 0).start()
    try:
        yield f"ws://localhost:{runner.addresses[0][1]}/call", app[HALL]
    finally:
        await runner.cleanup()
        engine.stop()


def test_a_crash_ends_one_connection_with_1011_and_is_logged_once_with_its_session() -> None:
    logged = Logged()

    async def scene() -> None:
        async with speaking(lambda setup, now: Brittle(setup, False, now)) as (address, hall):
            async with talking(address) as broken, talking(address) as other:
                await broken.start()
                await other.start()
                await broken.socket.send("break")
                await broken.hear_out()
                assert broken.close_code == 1011
                assert getattr(logged.records[0], "session", None) == broken.session["id"]
                await other.speak(tone(2))
                await other.say("session.close")
                assert (await other.hear_out())[-1]["type"] == "session.closed"
            assert hall.admission.active == 0

    logging.getLogger("duet").addHandler(logged)
    try:
        asyncio.run(scene())
    finally:
        logging.getLogger("duet").removeHandler(logged)
    assert [record.getMessage() for record in logged.records] == ["the session broke down"]


class Timed(LiveCall):
    """Notes in which turn of the loop it decodes, and how many bytes."""

    def __init__(self, setup: Setup, now: float) -> None:
        super().__init__(setup, True, now)
        self.heard: list[tuple[int, int]] = []
        self._turn = 0
        self._next_turn()

    def _next_turn(self) -> None:
        self._turn += 1
        asyncio.get_running_loop().call_soon(self._next_turn)

    def _hear(self, audio: bytes, now: float) -> list[Deed]:
        self.heard.append((self._turn, len(audio)))
        return super()._hear(audio, now)


def test_of_long_messages_one_second_is_decoded_each_turn_of_the_loop_and_the_rest_keeps_its_order() -> None:
    calls: list[Timed] = []

    def make(setup: Setup, now: float) -> Call:
        calls.append(Timed(setup, now))
        return calls[-1]

    async def scene() -> None:
        async with speaking(make) as (address, _), talking(address) as client:
            await client.start(audio={"format": {"type": "audio/pcmu", "rate": 8_000}})
            long, short = Frame(Opcode.BINARY, b"\xff" * 40_000), Frame(Opcode.BINARY, b"\xff" * 160)
            client.socket.transport.write(long.serialize(mask=True) + short.serialize(mask=True) * 20)
            await client.say("session.close")
            async with asyncio.timeout(WAIT_S):
                async for _ in client.socket:
                    pass

    asyncio.run(scene())
    turns, sizes = zip(*calls[0].heard, strict=True)
    assert sizes == (*[8_000] * 5, *[160] * 20)
    assert len(set(turns)) == len(turns)


def test_a_client_that_closes_the_socket_has_hung_up_on_either_wire() -> None:
    async def scene() -> None:
        async with running(capacity=1) as here:
            async with talking(here.live) as client:
                await client.start()
                await client.speak(tone(1))
            await ended(here, "client_hangup")
            async with aiohttp.ClientSession() as http, http.ws_connect(here.moshi) as moshi:
                assert await moshi.receive_bytes() == b"\x00"
            await counted(here, 'duet_sessions_ended_total{reason="client_hangup"} 2.0')

    asyncio.run(scene())


@pytest.mark.parametrize("payload", [b"", (1001).to_bytes(2, "big")])
def test_a_browser_that_closes_or_leaves_the_page_has_hung_up(payload: bytes) -> None:
    async def scene() -> None:
        async with running(capacity=1) as here, talking(here.live) as client:
            await client.start()
            client.socket.transport.write(Frame(Opcode.CLOSE, payload).serialize(mask=True))
            await ended(here, "client_hangup")

    asyncio.run(scene())


def test_a_client_that_vanishes_or_closes_with_a_complaint_was_lost() -> None:
    async def scene() -> None:
        async with running(capacity=1) as here:
            async with talking(here.live) as client:
                await client.start()
                client.cut()
            await ended(here, "connection_lost")
            async with talking(here.live) as client:
                await client.start()
                await client.socket.close(1011)
            await counted(here, 'duet_sessions_ended_total{reason="connection_lost"} 2.0')

    asyncio.run(scene())


def test_a_client_that_reads_late_still_gets_everything_up_to_the_last_word() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, talking(here.live, max_queue=1) as client:
            await client.start()
            for _ in range(40):
                await client.speak(tone(1))
            await client.say("session.close")
            await ended(here, "close_requested")
            events = await client.hear_out()
            assert audio_of(events) == bytes(3840) + tone(39)
            assert events[-1]["type"] == "session.closed"
            assert client.close_code == 1000

    asyncio.run(scene())


def test_a_burst_of_commands_in_one_piece_is_answered_to_the_last_one() -> None:
    async def scene() -> None:
        async with running() as here, talking(here.live) as client:
            await client.start()
            mute = Frame(Opcode.TEXT, b'{"type":"session.input_audio.mute"}')
            client.socket.transport.write(mute.serialize(mask=True) * 2_000)
            await client.say("session.close")
            events = await client.hear_out()
            assert types_of(events).count("session.input_audio.muted") == 2_000
            assert events[-1]["type"] == "session.closed"

    asyncio.run(scene())


async def owe_reading(deaf: Talker, here: Running) -> None:
    """The client takes no more, though 8 MB of answers are on their way to it."""
    await deaf.start()
    deaf.socket.transport.pause_reading()
    for _ in range(40):
        await deaf.say("session.input_audio.mute", event_id="x" * 200_000)
    await deaf.speak(tone(1))
    await counted(here, "duet_inbox_frames_count 1.0")  # all that came before is answered


def test_a_drain_does_not_wait_past_its_deadline_for_a_client_that_does_not_read() -> None:
    async def scene() -> None:
        async with running(outbox_s=3_600, drain_s=0.1) as here, talking(here.live, max_queue=1) as deaf:
            await owe_reading(deaf, here)
            async with asyncio.timeout(WAIT_S):
                await here.server.drain()
            deaf.cut()

    asyncio.run(scene())


def test_a_good_bye_that_has_begun_is_hurried_at_the_deadline_too() -> None:
    async def scene() -> None:
        async with running(outbox_s=3_600, drain_s=0.5) as here, talking(here.live, max_queue=1) as deaf:
            await owe_reading(deaf, here)
            await deaf.say("session.close")
            await ended(here, "close_requested")
            async with asyncio.timeout(WAIT_S):
                await here.server.drain()
            deaf.cut()

    asyncio.run(scene())


def test_a_second_signal_does_not_wait_for_a_client_that_does_not_read() -> None:
    async def scene() -> None:
        async with running(outbox_s=3_600) as here, talking(here.live, max_queue=1) as deaf:
            await owe_reading(deaf, here)
            draining = asyncio.create_task(here.server.drain())
            await asyncio.sleep(0)
            here.server.stop_now()
            async with asyncio.timeout(WAIT_S):
                await draining
            deaf.cut()

    asyncio.run(scene())
