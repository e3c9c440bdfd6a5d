"""The client library that integrators already have, unmodified, against a whole server."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
import soundfile

from tests.server.serving import WAIT_S, Running, audio_of, running, tone

openai = pytest.importorskip("openai", minversion="3.57")
pydantic = pytest.importorskip("pydantic")
live = pytest.importorskip("openai.types.live")

SERVER_EVENT = pydantic.TypeAdapter(live.ServerEvent)


def client_of(here: Running) -> Any:
    return openai.AsyncOpenAI(base_url=f"{here.http}/v1", api_key="secret", max_retries=0)


async def hear_out(connection: Any) -> list[dict[str, Any]]:
    """Every event until the server closes, each valid as the library's own type."""
    events: list[dict[str, Any]] = []
    async with asyncio.timeout(WAIT_S):
        while not events or events[-1]["type"] != "session.closed":
            events.append(json.loads(await connection.recv_bytes()))
            SERVER_EVENT.validate_python(events[-1])
    return events


def test_a_call_through_the_sdk(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path, api_keys=("secret",), recording_format="wav") as here:
            client = client_of(here)
            async with client.live.connect() as connection:
                await connection.session.start(
                    session={
                        "model": "default",
                        "instructions": "Be brief.",
                        "audio": {
                            "format": {"type": "audio/pcm", "rate": 24000},
                            "output": {"voice": "marin"},
                        },
                        "store": True,
                    },
                    event_id="begin",
                )
                for _ in range(20):
                    await connection.session.input_audio.append(audio=base64.b64encode(tone(1)).decode())
                await connection.session.input_audio.mute(event_id="hush")
                await connection.session.instructions.append(
                    content="Louder.", delegation_id=None, event_id="more"
                )
                await connection.session.close(event_id="end")
                events = await hear_out(connection)
            await check_call(events, client)
            await client.close()

    asyncio.run(scene())


async def check_call(events: list[dict[str, Any]], client: Any) -> None:
    by_type = {event["type"]: event for event in events}
    session = by_type["session.started"]["session"]
    assert by_type["session.started"]["client_event_id"] == "begin"
    assert [e["code"] for e in events if e["type"] == "info"] == [
        "instructions_unsupported",
        "voice_unsupported",
    ]
    assert by_type["session.input_audio.muted"]["client_event_id"] == "hush"
    assert by_type["error"]["error"]["code"] == "unsupported"
    assert by_type["error"]["error"]["client_event_id"] == "more"
    assert by_type["session.closed"]["reason"] == "close_requested"
    assert by_type["session.closed"]["usage"]["seconds"] == 1.6
    assert audio_of(events) == bytes(3840) + tone(19)
    words = [event for event in events if event["type"] == "session.output_transcript.delta"]
    assert [(word["delta"], word["start_ms"], word["end_ms"]) for word in words] == [
        (" hello", 400, 480),
        ("echo", 800, 880),
        (" hello", 1200, 1280),
    ]
    recording = await client.live.sessions.download_recording(session["id"])
    samples, rate = soundfile.read(io.BytesIO(recording.content), dtype="int16")
    assert (samples.shape, rate) == ((20 * 1920, 2), 24_000)


def test_the_sdk_lists_the_model_and_hangs_up() -> None:
    async def scene() -> None:
        async with running() as here:
            client = client_of(here)
            assert [model.id async for model in client.models.list()] == ["echo"]
            async with client.live.connect() as connection:
                await connection.session.start(session={"model": "echo"})
                started = await connection.recv()
                await client.live.sessions.hangup(started.session.id)
                assert (await hear_out(connection))[-1]["reason"] == "remote_hangup"
            await client.close()

    asyncio.run(scene())


def test_the_sdk_sees_why_a_key_is_refused() -> None:
    async def scene() -> None:
        async with running(api_keys=("other",)) as here:
            client = client_of(here)
            with pytest.raises(openai.AuthenticationError):
                await client.models.list()
            await client.close()

    asyncio.run(scene())
