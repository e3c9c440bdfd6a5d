"""The WebSocket routes over real sockets: who gets in, who does not, and what a session sounds like."""

from __future__ import annotations

import asyncio
import json

import aiohttp
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.server.serving import Running, audio_of, running, talking, tone, types_of

FRAME_BYTES = 3840


async def refused(address: str, **headers: str) -> InvalidStatus:
    with pytest.raises(InvalidStatus) as caught:
        await connect(address, additional_headers=headers)
    return caught.value


def test_a_call_from_start_to_close() -> None:
    async def scene() -> None:
        async with running() as here, talking(here.live) as client:
            await client.start()
            await client.speak(tone(3))
            await client.say("session.close")
            events = await client.hear_out()
            assert audio_of(events) == bytes(FRAME_BYTES) + tone(2)
            assert types_of(events)[-2:] == ["session.usage.updated", "session.closed"]
            assert client.close_code == 1000

    asyncio.run(scene())


def test_two_calls_at_once_do_not_hear_each_other() -> None:
    async def scene() -> None:
        async with running() as here, talking(here.live) as one, talking(here.live) as two:
            for client in (one, two):
                await client.start()
            for _ in range(5):
                await one.speak(tone(1, level=100))
                await two.speak(tone(1, level=-200))
            for client, level in ((one, 100), (two, -200)):
                await client.say("session.close")
                assert audio_of(await client.hear_out()) == bytes(FRAME_BYTES) + tone(4, level)

    asyncio.run(scene())


def test_a_full_server_refuses_before_the_upgrade_and_says_why() -> None:
    async def scene() -> None:
        async with running(capacity=1) as here, talking(here.live):
            response = (await refused(here.live)).response
            assert response.status_code == 503
            assert response.headers["Retry-After"] == "5"
            error = json.loads(response.body)["error"]
            assert (error["type"], error["active"], error["capacity"]) == ("server_full", 1, 1)
            assert (await refused(here.moshi)).response.status_code == 503

    asyncio.run(scene())


def test_a_place_is_free_again_when_its_call_is_over() -> None:
    async def scene() -> None:
        async with running(capacity=1) as here:
            for level in (1, 2, 3):
                async with talking(here.live) as client:
                    await client.start()
                    await client.speak(tone(2, level))
                    await client.say("session.close")
                    assert audio_of(await client.hear_out()) == bytes(FRAME_BYTES) + tone(1, level)

    asyncio.run(scene())


def test_nobody_without_a_key_gets_as_far_as_the_upgrade() -> None:
    async def scene() -> None:
        async with running(api_keys=("secret",)) as here:
            assert (await refused(here.live)).response.status_code == 401
            assert (await refused(here.moshi, Authorization="Bearer wrong")).response.status_code == 401
            headers = {"Authorization": "Bearer secret"}
            async with talking(here.live, additional_headers=headers) as client:
                await client.start()

    asyncio.run(scene())


def test_a_page_whose_name_was_pointed_at_this_machine_is_refused() -> None:
    async def scene() -> None:
        async with running(host="127.0.0.1") as here, aiohttp.ClientSession(here.http) as http:
            rebound = {"Host": f"evil.example:{here.port}", "Origin": f"http://evil.example:{here.port}"}
            async with http.get("/v1/models", headers=rebound) as answer:
                assert answer.status == 403
                assert (await answer.json())["error"]["type"] == "foreign_origin"
            local = {"Origin": here.http}
            async with http.get("/v1/models", headers=local) as answer:
                assert answer.status == 200

    asyncio.run(scene())


def test_a_page_of_a_foreign_origin_is_refused() -> None:
    async def scene() -> None:
        async with running(allowed_origins=("https://mine.example",)) as here:
            assert (await refused(here.live, Origin="https://evil.example")).response.status_code == 403
            async with talking(here.live, origin="https://mine.example") as client:
                await client.start()

    asyncio.run(scene())


async def bad_request(here: Running, query: str) -> str:
    response = (await refused(f"{here.moshi}?{query}")).response
    assert response.status_code == 400
    return str(json.loads(response.body)["error"]["param"])


def test_a_query_parameter_that_cannot_be_used_is_named_before_the_upgrade() -> None:
    async def scene() -> None:
        async with running() as here:
            assert await bad_request(here, "text_topk=many") == "text_topk"
            assert await bad_request(here, "audio_temperature=-1") == "audio_temperature"
            response = (await refused(f"{here.live}?audio=opus")).response
            assert json.loads(response.body)["error"]["param"] == "audio"

    asyncio.run(scene())


def test_a_connection_that_starts_nothing_loses_its_place() -> None:
    async def scene() -> None:
        async with running(start_timeout_s=0.05) as here, talking(here.live) as client:
            events = await client.hear_out()
            assert events[0]["error"]["code"] == "start_timeout"
            assert client.close_code == 1008

    asyncio.run(scene())


def test_the_browsers_subprotocol_is_agreed_on() -> None:
    async def scene() -> None:
        async with running() as here, connect(here.live, subprotocols=["duet", "duet.key.eA"]) as socket:  # type: ignore[list-item]
            assert socket.subprotocol == "duet"

    asyncio.run(scene())
