"""An observer's side of the sideband: where it asks, what it reads, how it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

import duet_client
from duet_client import Frame, wire
from duet_client.address import attach_url, observe_url

ATTACHED = wire.dump_event(wire.Attached({"id": "sess_1"}, 3, {}, False), "e_1")


@asynccontextmanager
async def saying(*messages: str | bytes, close: tuple[int, str] = (1000, "")) -> AsyncIterator[str]:
    """A server that says these, whatever it is asked for, and closes."""

    async def handle(socket: ServerConnection) -> None:
        for message in messages:
            await socket.send(message)
        await socket.close(*close)

    async with serve(handle, "127.0.0.1", 0) as server:
        yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


def test_where_a_session_is_observed() -> None:
    base = "https://host/duet/v1"
    assert attach_url(base, "sess_1", audio="events") == "wss://host/duet/v1/live/sessions/sess_1/attach"
    assert attach_url(base, "a/b", audio="binary", from_ms=0, transcribe=True) == (
        "wss://host/duet/v1/live/sessions/a%2Fb/attach?audio=binary&from_ms=0&transcribe=true"
    )
    assert observe_url("ws://host:1") == "ws://host:1/v1/live/observe"


def test_a_frame_of_any_other_length_is_refused() -> None:
    for size in (0, 7_683, 7_685):
        with pytest.raises(duet_client.WireError, match="7684"):
            Frame.parse(bytes(size))


def test_frames_and_events_come_in_the_order_in_which_they_were_sent() -> None:
    samples = np.repeat(np.array([1, -2], "<i2"), 1_920)
    frame = (3).to_bytes(4, "little") + samples.tobytes()

    async def scene() -> None:
        async with (
            saying(ATTACHED, frame, wire.dump_event(wire.Gap(0, 80), "e_2")) as server,
            duet_client.attach(server, "sess_1") as observer,
        ):
            first, second = [item async for item in observer]
        assert (observer.attached.frame, observer.attached.session["id"]) == (3, "sess_1")
        assert isinstance(first, Frame)
        assert (first.index, first.user[0] * 32_768, first.agent[-1] * 32_768) == (3, 1, -2)
        assert second == wire.Gap(0, 80)

    asyncio.run(scene())


def test_another_end_than_the_call_s_own_is_an_error() -> None:
    async def scene() -> None:
        async with (
            saying(ATTACHED, close=(1008, "replaced")) as server,
            duet_client.attach(server, "sess_1") as observer,
        ):
            with pytest.raises(duet_client.SessionLost, match="replaced") as lost:
                await anext(observer)
        assert lost.value.close_code == 1008

    asyncio.run(scene())


def test_a_server_that_begins_with_something_else_is_not_observed() -> None:
    async def scene() -> None:
        async with saying(wire.dump_event(wire.Gap(0, 80), "e_1")) as server:
            with pytest.raises(duet_client.WireError, match=r"duet\.attached"):
                async with duet_client.attach(server, "sess_1"):
                    pass

    asyncio.run(scene())


def test_a_session_that_is_none_and_a_server_that_knows_no_sideband_are_told_apart() -> None:
    def not_found(kind: str) -> type[duet_client.ConnectError]:
        def refuse(connection: ServerConnection, _: Request) -> Response:
            return connection.respond(404, json.dumps({"error": {"type": kind, "message": "no"}}))

        async def scene() -> None:
            async with serve(lambda _: asyncio.sleep(0), "127.0.0.1", 0, process_request=refuse) as server:
                port = next(iter(server.sockets)).getsockname()[1]
                async with duet_client.attach(f"ws://127.0.0.1:{port}", "sess_1"):
                    pass

        with pytest.raises(duet_client.ConnectError) as caught:
            asyncio.run(scene())
        return type(caught.value)

    assert not_found("session_not_found") is duet_client.NoSession
    assert not_found("not_found") is duet_client.ConnectError
