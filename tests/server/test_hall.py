"""How the server empties: a drain with a deadline, a stop at once, a hang-up from outside."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.server.serving import WAIT_S, Running, running, talking, tone, types_of


def test_a_drain_lets_running_calls_finish_and_nobody_new_in() -> None:
    async def scene() -> None:
        async with running(drain_s=WAIT_S) as here, talking(here.live) as client:
            await client.start()
            draining = asyncio.create_task(here.server.drain())
            info = (await client.hear_until("info"))[-1]
            assert info["code"] == "draining"
            with pytest.raises(InvalidStatus) as caught:
                await connect(here.live)
            assert json.loads(caught.value.response.body)["error"]["type"] == "draining"
            await client.speak(tone(2))
            await client.say("session.close")
            assert (await client.hear_out())[-1]["reason"] == "close_requested"
            async with asyncio.timeout(WAIT_S):
                await draining

    asyncio.run(scene())


def test_at_the_deadline_a_call_is_ended_cleanly() -> None:
    async def scene() -> None:
        async with running(drain_s=0.1) as here, talking(here.live) as client:
            await client.start()
            await client.speak(tone(1.5))
            async with asyncio.timeout(WAIT_S):
                await here.server.drain()
            events = await client.hear_out()
            assert types_of(events).count("session.output_audio.delta") == 2
            assert events[-1]["type"] == "session.closed"
            assert events[-1]["usage"]["seconds"] == 0.16
            assert client.close_code == 1001

    asyncio.run(scene())


def test_a_second_signal_ends_everything_at_once() -> None:
    async def scene() -> None:
        async with running(drain_s=3600) as here, talking(here.live) as client:
            await client.start()
            draining = asyncio.create_task(here.server.drain())
            await client.hear_until("info")
            here.server.stop_now()
            async with asyncio.timeout(WAIT_S):
                await draining
            assert (await client.hear_out())[-1]["type"] == "session.closed"
            assert client.close_code == 1001

    asyncio.run(scene())


def test_a_server_that_just_stops_says_good_bye() -> None:
    async def scene() -> None:
        async with running() as here:
            stack = talking(here.live)
            client = await stack.__aenter__()
            await client.start()
        assert types_of(await client.hear_out())[-1] == "session.closed"
        assert client.close_code == 1001
        await stack.__aexit__(None, None, None)

    asyncio.run(scene())


def test_an_empty_server_drains_at_once() -> None:
    async def scene() -> None:
        async with running(drain_s=3600) as here, asyncio.timeout(WAIT_S):
            await here.server.drain()

    asyncio.run(scene())


def test_a_session_can_be_hung_up_from_outside() -> None:
    async def scene() -> None:
        async with running() as here, talking(here.live) as client, aiohttp.ClientSession() as http:
            await client.start()
            address = f"{here.http}/v1/live/sessions/{client.session['id']}/hangup"
            async with http.post(address) as answer:
                assert answer.status == 204
            assert (await client.hear_out())[-1]["reason"] == "remote_hangup"
            assert client.close_code == 1000
            async with http.post(address) as answer:
                assert answer.status == 404

    asyncio.run(scene())


async def some_call(here: Running, chance: random.Random) -> None:
    """A client that behaves, or does not, if it gets in."""
    with suppress(InvalidStatus):
        async with talking(here.live) as client:
            if chance.random() < 0.1:
                return
            await client.start(store=chance.random() < 0.5)
            for _ in range(chance.randrange(20)):
                await client.speak(tone(chance.random()))
            if chance.random() < 0.3:
                client.cut()
                return
            await client.say("session.close")
            if chance.random() < 0.5:
                assert (await client.hear_out())[-1]["type"] == "session.closed"
                assert client.close_code == 1000


def test_whatever_the_clients_do_no_place_is_lost(tmp_path: Path) -> None:
    async def scene() -> None:
        async def worker(seed: int) -> None:
            chance = random.Random(seed)
            for _ in range(12):
                await some_call(here, chance)

        async with running(tmp_path, capacity=2, pace="free") as here, aiohttp.ClientSession() as http:
            await asyncio.gather(*[worker(seed) for seed in range(4)])
            async with asyncio.timeout(WAIT_S):
                active = -1
                while active:
                    async with http.get(f"{here.http}/v1/models") as answer:
                        active = (await answer.json())["data"][0]["duet"]["active"]
            async with http.get(f"{here.http}/metrics") as answer:
                assert "duet_sessions_active 0.0" in await answer.text()

    asyncio.run(scene())
