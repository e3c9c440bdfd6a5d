"""How the server empties: a drain with a deadline, a stop at once, a hang-up from outside."""

from __future__ import annotations

import asyncio
import json

import aiohttp
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.server.serving import WAIT_S, running, talking, tone, types_of


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
