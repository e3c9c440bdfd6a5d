"""Our own client library against a whole server."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

import duet_client
from duet_client import wire
from tests.server.serving import WAIT_S, Running, running, tone


async def echo(here: Running, seconds: float, binary: bool) -> tuple[bytes, wire.Event]:
    """A whole call, sent as fast as the server takes it; what came back, and the last event."""
    heard = b""
    async with duet_client.connect(here.http, binary=binary) as session, asyncio.timeout(WAIT_S):
        await session.send_audio(np.full(int(seconds * 24_000), 1000, np.int16))
        await session.close()
        async for event in session:
            heard += event.audio if isinstance(event, wire.OutputAudioDelta) else b""
    return heard, event


@pytest.mark.parametrize("binary", [True, False])
def test_a_minute_of_audio_at_a_free_pace_comes_back_whole(binary: bool) -> None:
    async def scene() -> None:
        async with running(pace="free") as here:
            heard, last = await echo(here, 60.0, binary)
            assert heard == bytes(3840) + tone(749)
            assert isinstance(last, wire.SessionClosed)
            assert (last.reason, last.seconds) == ("close_requested", 60.0)

    asyncio.run(scene())


def test_refusals_reach_the_caller_as_what_they_are() -> None:
    async def scene() -> None:
        async with running(capacity=1, api_keys=("secret",)) as here:
            with pytest.raises(duet_client.Unauthorized):
                await duet_client.connect(here.http).__aenter__()
            async with duet_client.connect(here.http, api_key="secret"):
                with pytest.raises(duet_client.ServerFull) as caught:
                    await duet_client.connect(here.http, api_key="secret").__aenter__()
                assert caught.value.retry_after_s == 5.0
            with pytest.raises(duet_client.StartRefused) as refused:
                await duet_client.connect(here.http, api_key="secret", model="other").__aenter__()
            assert refused.value.param == "session.model"

    asyncio.run(scene())


def test_an_equal_seed_is_echoed_and_reaches_the_model() -> None:
    async def scene() -> None:
        async with running() as here:
            sampling = duet_client.DuetOptions(seed=42, audio_temperature=0.0)
            async with duet_client.connect(here.http, sampling=sampling) as session:
                assert session.started.session["duet"]["seed"] == 42
                assert session.started.session["duet"]["audio_temperature"] == 0.0
                await session.send_audio(tone(1))
                async for event in session:
                    if isinstance(event, wire.OutputAudioDelta):
                        break
                await here.seed_arrives(42)

    asyncio.run(scene())
