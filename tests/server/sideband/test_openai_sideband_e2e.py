"""The client library that integrators already have, unmodified, beside a running call."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest

from tests.server.serving import WAIT_S, running, talking, tone

openai = pytest.importorskip("openai", minversion="3.57")
pydantic = pytest.importorskip("pydantic")
live = pytest.importorskip("openai.types.live")

SERVER_EVENT = pydantic.TypeAdapter(live.ServerEvent)


async def hear_out(connection: Any) -> list[dict[str, Any]]:
    """Every event until the server closes; those of the vocabulary are valid as the library's own types."""
    events: list[dict[str, Any]] = []
    async with asyncio.timeout(WAIT_S):
        while not events or events[-1]["type"] != "session.closed":
            events.append(json.loads(await connection.recv_bytes()))
            if not events[-1]["type"].startswith("duet."):
                SERVER_EVENT.validate_python(events[-1])
    return events


def test_the_sdk_listens_mutes_and_closes() -> None:
    async def scene() -> None:
        headers = {"Authorization": "Bearer secret"}
        async with (
            running(pace="free", api_keys=("secret",)) as here,
            talking(here.live, additional_headers=headers) as caller,
        ):
            await caller.start()
            client = openai.AsyncOpenAI(base_url=f"{here.http}/v1", api_key="secret", max_retries=0)
            async with client.live.sideband.connect(
                session_id=caller.session["id"], graceful_close=True
            ) as connection:
                await caller.speak(tone(6))
                await caller.hear_until("session.output_transcript.delta")
                await connection.session.input_audio.mute(event_id="m_1")
                await caller.hear_until("session.input_audio.muted")
                await connection.session.close(event_id="c_1")
                events = await hear_out(connection)
            await client.close()
            by_type = {event["type"]: event for event in events}
            user = [event["audio"] for event in events if event["type"] == "session.input_audio.append"]
            agent = [event for event in events if event["type"] == "session.output_audio.delta"]
            assert b"".join(map(base64.b64decode, user)) == tone(6)
            assert [event["start_ms"] for event in agent] == [0, 80, 160, 240, 320, 400]
            assert by_type["session.output_transcript.delta"]["delta"] == " hello"
            assert by_type["session.input_audio.muted"]["client_event_id"] == "m_1"
            assert by_type["session.closed"]["reason"] == "close_requested"
            assert by_type["session.closed"]["client_event_id"] == "c_1"

    asyncio.run(scene())


def test_the_sdk_s_own_iteration_ends_with_the_call() -> None:
    async def scene() -> None:
        async with running(pace="free") as here, talking(here.live) as caller:
            await caller.start()
            client = openai.AsyncOpenAI(base_url=f"{here.http}/v1", api_key="any", max_retries=0)
            async with client.live.sideband.connect(session_id=caller.session["id"]) as connection:
                await caller.speak(tone(1))
                await caller.say("session.close")
                async with asyncio.timeout(WAIT_S):
                    kinds = [event.type async for event in connection]
            await client.close()
            assert kinds[0] == "duet.attached"
            assert kinds[-1] == "session.closed"

    asyncio.run(scene())
