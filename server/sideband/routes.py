"""The sideband's routes: a refusal as plain HTTP, or the upgrade and a stream of its own.

    GET /v1/live/sessions/{id}/attach[?audio=binary|none][&from_ms=T][&transcribe=true]
    GET /v1/live/observe

Moves nothing and decides nothing. Refuses to know what is said on the way.
"""

from __future__ import annotations

import re
from functools import partial
from typing import cast

from aiohttp import web
from multidict import MultiMapping

from server.admission import Unavailable
from server.answers import no_page, problem, refuse, wants_socket
from server.errors import BadParameter
from server.hall import CLIENT_GONE, HALL, Hall
from server.sideband.commands import obey
from server.sideband.cursor import Audio
from server.sideband.feed import OBSERVERS_MOST
from server.sideband.observer import Wishes
from server.sideband.stream import Fetch, Hear, Listener, Stream
from server.transport import Socket

PATIENCE = 3
"""So many times longer than a caller may an observer owe an answer to a ping: it delays nobody."""
RETRY_S = 5
_TIME = re.compile(r"\d{1,12}")


def sideband_routes() -> list[web.RouteDef]:
    return [web.get("/v1/live/sessions/{id}/attach", attach), web.get("/v1/live/observe", observe)]


async def attach(request: web.Request) -> web.StreamResponse:
    """One call, observed."""
    if not wants_socket(request):
        return no_page(request)
    wishes = read_wishes(request.query)
    hall = request.app[HALL]
    feed = hall.hub.find(request.match_info["id"])
    if feed is None:
        return problem(404, "session_not_found", "there is no such session, or it is over")
    if len(feed.observers) >= OBSERVERS_MOST and not wishes.transcribe:
        message = f"the session has {OBSERVERS_MOST} observers, and no more may attach"
        return refuse(Unavailable("observers_full", message, RETRY_S))
    observer = feed.attach(wishes)
    try:
        fetch = partial(hall.replay.fetch, feed, observer.cursor)
        return await _stream(request, hall, observer, partial(obey, feed, observer), fetch)
    finally:
        feed.detach(observer)


async def observe(request: web.Request) -> web.StreamResponse:
    """All calls, as they start and close."""
    if not wants_socket(request):
        return no_page(request)
    hall = request.app[HALL]
    watch = hall.hub.watch()
    try:
        return await _stream(request, hall, watch, lambda _: None)
    finally:
        hall.hub.unwatch(watch)


def read_wishes(query: MultiMapping[str]) -> Wishes:
    """Raises BadParameter."""
    audio, from_ms, transcribe = query.get("audio"), query.get("from_ms"), query.get("transcribe", "false")
    if audio not in (None, "binary", "none"):
        raise BadParameter("audio", f"must be binary, none or left out, not {audio[:40]!r}")
    if from_ms is not None and not _TIME.fullmatch(from_ms):
        raise BadParameter("from_ms", f"must be a whole number of milliseconds from 0, not {from_ms[:40]!r}")
    if transcribe not in ("true", "false"):
        raise BadParameter("transcribe", f"must be true, false or left out, not {transcribe[:40]!r}")
    start = None if from_ms is None else int(from_ms)
    return Wishes(cast(Audio, audio or "events"), start, transcribe == "true")


async def _stream(
    request: web.Request, hall: Hall, listener: Listener, hear: Hear, fetch: Fetch | None = None
) -> web.StreamResponse:
    socket = Socket(hall.config.max_message_bytes, PATIENCE * hall.config.ping_interval_s)
    try:
        await socket.accept(request)
    except ConnectionError:
        return web.Response(status=CLIENT_GONE)
    await Stream(socket, listener, hear, fetch).run()
    return socket.response
