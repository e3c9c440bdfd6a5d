"""The whole server: its routes, who may ask for them, and the order in which it starts and stops.

    board = Switchboard()
    engine = open_engine(..., on_step=board.on_step)
    async with serve(config, engine, board, bind(config.host, config.port), tls=None) as server:
        await first_signal
        await server.drain()          # a second signal meanwhile: server.stop_now()

The model is warm before the first connection is accepted, and stops after the last one is gone.
Refuses to know signals and the command line.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from model.engine import Engine
from server import pages
from server.answers import problem, refuse
from server.archive import Archive
from server.auth import Gate, is_local
from server.config import ServerConfig
from server.errors import BadParameter
from server.hall import HALL, Hall
from server.metrics import Metrics
from server.sockets import socket_routes
from server.switchboard import Switchboard

WEB = Path(__file__).resolve().parent.parent / "client" / "web"
GUARDED = ("/v1/", "/api/")
"""Whoever asks for these shows a key. Probes, metrics and the page itself are open."""
LEAVING_S = 10.0
"""How long connections have to go after their sessions have ended."""


class Server:
    """A running server."""

    def __init__(self, hall: Hall) -> None:
        self._hall = hall

    async def drain(self) -> None:
        """Lets nobody in any more; returns when the last session is gone, at the deadline at the latest."""
        await self._hall.drain()

    def stop_now(self) -> None:
        """Ends every session at once; `drain` then returns."""
        self._hall.stop_now()


@asynccontextmanager
async def serve(
    config: ServerConfig,
    engine: Engine,
    board: Switchboard,
    sockets: Iterable[socket.socket],
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Server]:
    """Starts the engine, listens on the bound sockets, and on the way out undoes it in reverse.

    Raises ModelError where the model does not get warm.
    """
    await asyncio.to_thread(engine.start)
    try:
        app = create_app(config, engine, board)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=LEAVING_S)
        try:
            await runner.setup()
            for each in sockets:
                await web.SockSite(runner, each, ssl_context=tls).start()
            yield Server(app[HALL])
        finally:
            app[HALL].stop_now()
            await app[HALL].empty(LEAVING_S)
            await runner.cleanup()
    finally:
        await asyncio.to_thread(engine.stop)


def create_app(config: ServerConfig, engine: Engine, board: Switchboard) -> web.Application:
    """The application around a started engine whose `on_step` is the board's."""
    metrics = Metrics(engine.capacity)
    hall = Hall(
        config,
        engine,
        board,
        metrics,
        Archive(config.recordings, config.recording_format, metrics.recording_lost),
    )
    gate = Gate(config.api_keys, config.allowed_origins, is_local(config.host))
    app = web.Application(middlewares=[_guard(gate, metrics), _explain])
    app[HALL] = hall
    app.cleanup_ctx.append(_open_hall)
    app.on_response_prepare.append(pages.protect)  # type: ignore[arg-type]  # aiohttp 3.11 types it wrongly
    app.add_routes([*socket_routes(), *pages.routes()])
    if WEB.is_dir():
        app.add_routes(pages.page_routes(WEB))
    return app


async def _open_hall(app: web.Application) -> AsyncIterator[None]:
    async with app[HALL].open():
        yield


def _guard(gate: Gate, metrics: Metrics) -> Middleware:
    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path.startswith(GUARDED) and (refusal := gate.refusal(request.headers)):
            metrics.refused(refusal.reason)
            return refuse(refusal)
        return await handler(request)

    return guard


@web.middleware
async def _explain(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except BadParameter as error:
        return web.json_response(error.body, status=400)
    except web.HTTPNotFound:
        return problem(404, "not_found", f"there is nothing at {request.path[:200]}")
