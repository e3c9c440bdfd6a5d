"""The wire against the client library that integrators already have."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from duet_client import wire
from tests.client.echo_server import EchoServer

openai = pytest.importorskip("openai", minversion="3.57")
pydantic = pytest.importorskip("pydantic")
live = pytest.importorskip("openai.types.live")

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "vectors" / "wire.json").read_text("utf-8")
)
OURS_ALONE = {"UnsupportedCommand", "UnknownEvent"}  # messages that have no type of their own there


def written(kind: str) -> pytest.MarkDecorator:
    chosen = [case for case in VECTORS[kind] if case["message"] not in OURS_ALONE]
    return pytest.mark.parametrize("case", chosen, ids=[case["name"] for case in chosen])


@written("events")
def test_every_event_validates_as_the_sdk_s_type(case: dict[str, Any]) -> None:
    text = wire.dump_event(wire.parse_event(case["text"]), case["event_id"])
    found = pydantic.TypeAdapter(live.ServerEvent).validate_json(text, strict=True)
    assert found.type == json.loads(case["text"])["type"]


@written("commands")
def test_every_command_validates_as_the_sdk_s_type(case: dict[str, Any]) -> None:
    text = wire.dump_command(wire.parse_command(case["text"]))
    found = pydantic.TypeAdapter(live.ClientEvent).validate_json(text, strict=True)
    assert found.type == json.loads(case["text"])["type"]


async def sdk_call(server: EchoServer) -> list[Any]:
    """What the SDK's own client gets back for one frame, a mute and a hang-up."""
    client = openai.AsyncOpenAI(base_url=server.url.replace("ws:", "http:") + "/v1", api_key="sk-1")
    async with client.live.connect() as connection:
        await connection.session.start(
            session={
                "model": "default",
                "audio": {"format": {"type": "audio/pcm", "rate": 16_000}, "output": {"voice": "marin"}},
                "instructions": "Be brief.",
                "store": True,
                "delegation": {"type": "client"},
            },
            event_id="c_1",
        )
        await connection.session.input_audio.append(audio=base64.b64encode(b"\1\0" * 1280).decode())
        await connection.session.input_audio.mute(event_id="c_2")
        await connection.session.instructions.append(content="More.", delegation_id=None)
        await connection.session.close(event_id="c_3")
        events = [event async for event in connection]
    await client.close()
    return events


def test_the_sdk_s_own_client_holds_a_call() -> None:
    async def run() -> tuple[EchoServer, list[Any]]:
        async with EchoServer(api_key="sk-1").running() as server:
            return server, await sdk_call(server)

    server, events = asyncio.run(run())
    assert server.paths == ["/v1/live/sessions"]
    assert server.commands == [
        wire.SessionStart(
            "default",
            wire.AudioFormat("audio/pcm", 16_000),
            "Be brief.",
            "marin",
            True,
            event_id="c_1",
            unsupported=("session.delegation",),
        ),
        wire.InputAudioAppend(b"\1\0" * 1280),
        wire.Mute("c_2"),
        wire.InstructionsAppend("More."),
        wire.Close("c_3"),
    ]
    by_type = {event.type: event for event in events}
    assert base64.b64decode(by_type["session.output_audio.delta"].delta) == b"\1\0" * 1280
    assert by_type["session.input_audio.muted"].client_event_id == "c_2"
    assert by_type["session.closed"].reason == "close_requested"
    assert by_type["session.closed"].usage.seconds == 0.08
