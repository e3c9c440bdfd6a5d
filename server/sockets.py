"""The WebSocket routes: a refusal as plain HTTP, or the upgrade and a connection of its own.

Moves nothing and decides nothing: admission, wires and connections do. Refuses to know sessions.
"""

from __future__ import annotations

import secrets

from aiohttp import web

from server.answers import no_page, refuse, wants_socket
from server.call import Call, Setup
from server.errors import BadParameter
from server.hall import HALL, MakeCall
from server.live import LiveCall
from server.moshi_query import read_query
from server.moshi_wire import MoshiCall


def socket_routes() -> list[web.RouteDef]:
    return [web.get("/v1/live/sessions", live), web.get("/api/chat", moshi)]


async def live(request: web.Request) -> web.StreamResponse:
    """The Live wire; `?audio=binary` for audio as binary messages."""
    asked = request.query.get("audio")
    if asked not in (None, "binary"):
        raise BadParameter("audio", f"must be binary or left out, not {asked[:40]!r}")

    def make(setup: Setup, now: float) -> Call:
        return LiveCall(setup, asked == "binary", now)

    return await _converse(request, make)


async def moshi(request: web.Request) -> web.StreamResponse:
    """The Moshi wire."""
    options = read_query(request.query, request.app[HALL].engine.info, secrets.randbits)

    def make(setup: Setup, now: float) -> Call:
        return MoshiCall(setup, options, now)

    return await _converse(request, make)


async def _converse(request: web.Request, make: MakeCall) -> web.StreamResponse:
    if not wants_socket(request):
        return no_page(request)
    hall = request.app[HALL]
    if refusal := hall.refusal():
        hall.metrics.refused(refusal.reason)
        return refuse(refusal)
    return await hall.receive(request, make)
