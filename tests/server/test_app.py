"""Routes and order: what is guarded, what starts when, and that nothing outlives the server."""

from __future__ import annotations

import asyncio
import threading

import pytest

from model.config import ModelError
from model.runtime import StepOutput
from server.app import GUARDED, create_app, serve
from server.config import ServerConfig
from server.listen import bind
from server.switchboard import Switchboard
from tests.server.echo_engine import EchoRuntime, echo_engine
from tests.server.serving import running, talking, tone

OPEN = {"/health", "/ready", "/metrics", "/", "/{name}"}


def test_every_route_but_probes_metrics_and_the_page_asks_for_a_key() -> None:
    board = Switchboard()
    engine = echo_engine(EchoRuntime(1), board.on_step)

    async def scene() -> set[str]:
        app = create_app(ServerConfig(keep="off"), engine, board)
        return {resource.canonical for resource in app.router.resources()}

    paths = asyncio.run(scene())
    assert {"/v1/live/sessions", "/api/chat", "/v1/models"} < paths
    assert {path for path in paths if not path.startswith(GUARDED)} <= OPEN


class Cold(EchoRuntime):
    """A model that cannot get warm."""

    def step(self, *_: object) -> StepOutput:
        raise RuntimeError("out of memory")


def test_a_model_that_does_not_get_warm_is_never_listened_for() -> None:
    async def scene() -> None:
        board = Switchboard()
        engine = echo_engine(Cold(1), board.on_step)
        (socket, *_) = sockets = bind("127.0.0.1", 0)
        with pytest.raises(ModelError, match="out of memory"):
            async with serve(ServerConfig(keep="off"), engine, board, sockets):
                pytest.fail("it listened")
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", socket.getsockname()[1])
        for each in sockets:
            each.close()

    asyncio.run(scene())


def test_neither_threads_nor_tasks_outlive_the_server_even_with_a_call_under_way() -> None:
    before = set(threading.enumerate())

    async def scene() -> None:
        async with running() as here:
            stack = talking(here.live)
            client = await stack.__aenter__()
            await client.start()
            await client.speak(tone(10))
        await client.hear_out()
        await stack.__aexit__(None, None, None)

    asyncio.run(scene())
    assert not [thread for thread in set(threading.enumerate()) - before if thread.is_alive()]
