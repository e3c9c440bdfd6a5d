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
from server.door import Door
from server.errors import BadParameter
from server.guardrails.delivery import UNGUARDED, Policy
from server.hall import HALL, Hall
from server.metrics import Metrics
from server.retention import sweeping
from server.sideband.routes import sideband_routes
from server.sidecar_process import SIDECAR, Launch, Progress, Sidecar, SidecarState
from server.sockets import socket_routes
from server.switchboard import Switchboard
from server.transcripts.desk import Desk, keeping_of
from server.transcripts.redaction import NOTHING, Redaction

WEB = Path(__file__).resolve().parent.parent / "client" / "web"
GUARDED = ("/v1/", "/api/")
"""Whoever asks for these shows a key. Probes, metrics and the page itself are open."""
LEAVING_S = 10.0
"""How long connections have to go after their sessions have ended."""


class Server:
    """A running server."""

    def __init__(self, hall: Hall, sidecar: SidecarState) -> None:
        self._hall = hall
        self._sidecar = sidecar

    async def drain(self) -> None:
        """Lets nobody in any more; returns when the last session is gone, at the deadline at the latest."""
        await self._hall.drain()

    def stop_now(self) -> None:
        """Ends every session at once; `drain` then returns."""
        self._hall.stop_now()

    def sidecar(self, launch: Launch) -> Sidecar:
        """The sidecar of this server, to be run beside it."""
        return Sidecar(
            launch,
            self._progress,
            self._sidecar,
            self._hall.metrics.observation,
            on_hopeless=self._hall.transcripts.expect_no_more,
        )

    def _progress(self) -> Progress:
        return Progress(self._hall.transcripts.signs, self._hall.metrics.frames)


@asynccontextmanager
async def serve(
    config: ServerConfig,
    engine: Engine,
    board: Switchboard,
    sockets: Iterable[socket.socket],
    tls: ssl.SSLContext | None = None,
    *,
    policy: Policy = UNGUARDED,
    redaction: Redaction = NOTHING,
    door: Door | None = None,
) -> AsyncIterator[Server]:
    """Starts the engine, listens on the bound sockets, and on the way out undoes it in reverse.

    policy: what calls are held to. redaction: what transcripts must not hold. door: the sidecar's.

    Raises ModelError where the model does not get warm.
    """
    await asyncio.to_thread(engine.start)
    try:
        app = create_app(config, engine, board, policy=policy, redaction=redaction, door=door)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=LEAVING_S)
        try:
            await runner.setup()
            for each in sockets:
                await web.SockSite(runner, each, ssl_context=tls).start()
            if door is not None:
                await web.SockSite(runner, door.socket).start()
            yield Server(app[HALL], app[SIDECAR])
        finally:
            app[HALL].stop_now()
            await app[HALL].empty(LEAVING_S)
            await runner.cleanup()
    finally:
        await asyncio.to_thread(engine.stop)


def create_app(
    config: ServerConfig,
    engine: Engine,
    board: Switchboard,
    *,
    policy: Policy = UNGUARDED,
    redaction: Redaction = NOTHING,
    door: Door | None = None,
) -> web.Application:
    """The application around a started engine whose `on_step` is the board's."""
    metrics = Metrics(engine.capacity, policy.holdback_s)
    hall = Hall(
        config,
        engine,
        board,
        metrics,
        archive=Archive(config.recordings, config.recording_format, metrics.recording_lost),
        transcripts=Desk(keeping_of(config, redaction), config.sidecar != "off", metrics.observation),
        policy=policy,
    )
    gate = Gate(config.api_keys, config.allowed_origins, is_local(config.host))
    app = web.Application(middlewares=[_guard(gate, door, metrics), _explain])
    app[HALL] = hall
    app[SIDECAR] = SidecarState(config.sidecar)
    app.cleanup_ctx.extend([_open_hall, _keep_for_days])
    app.on_response_prepare.append(pages.protect)  # type: ignore[arg-type]  # aiohttp 3.11 types it wrongly
    app.on_shutdown.append(_stop_observers)  # type: ignore[arg-type]  # as well
    app.add_routes([*socket_routes(), *sideband_routes(), *pages.routes()])
    if WEB.is_dir():
        app.add_routes(pages.page_routes(WEB))
    return app


async def _open_hall(app: web.Application) -> AsyncIterator[None]:
    async with app[HALL].open():
        yield


async def _keep_for_days(app: web.Application) -> AsyncIterator[None]:
    hall = app[HALL]

    def is_busy(session_id: str) -> bool:
        return hall.archive.is_writing(session_id) or hall.transcripts.is_writing(session_id)

    async with sweeping(hall.config.recordings, hall.config.retention_days, is_busy):
        yield


async def _stop_observers(app: web.Application) -> None:
    app[HALL].hub.stop()


def _guard(gate: Gate, door: Door | None, metrics: Metrics) -> Middleware:
    def gate_of(request: web.Request) -> Gate:
        arrived_at = request.get_extra_info("sockname")
        return door.gate if door is not None and door.was_used(arrived_at) else gate

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path.startswith(GUARDED) and (refusal := gate_of(request).refusal(request.headers)):
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
