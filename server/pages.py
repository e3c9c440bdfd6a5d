"""The plain HTTP routes: the model list, probes, metrics, recordings, hanging up, the browser page.

Refuses to know WebSockets.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aiohttp import hdrs, web

from server.answers import problem, refuse
from server.hall import HALL, Hall
from server.metrics import CONTENT_TYPE

SESSION_ID = re.compile(r"sess_[0-9a-f]{32}")
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",  # an upgraded server must not meet half of an old page
}
"""The page talks to its own server, runs no inline script and sits in nobody's frame."""
CONTENT_TYPES = {".wav": "audio/wav", ".flac": "audio/flac"}


def routes() -> list[web.RouteDef]:
    return [
        web.get("/v1/models", models),
        web.get("/v1/live/sessions/{id}/content", content),
        web.post("/v1/live/sessions/{id}/hangup", hang_up),
        web.get("/health", health),
        web.get("/ready", ready),
        web.get("/metrics", metrics),
    ]


async def protect(_: web.Request, response: web.StreamResponse) -> None:
    """Signal handler: what every answer carries, whatever it is."""
    response.headers.update(PAGE_HEADERS)


def page_routes(folder: Path) -> list[web.RouteDef]:
    """The page in this folder, at the root; add them last, they match everything."""

    async def index(_: web.Request) -> web.StreamResponse:
        return web.FileResponse(folder / "index.html")

    async def file(request: web.Request) -> web.StreamResponse:
        path = folder / request.match_info["name"]
        if not await asyncio.to_thread(_is_file_of, folder, path):
            raise web.HTTPNotFound
        return web.FileResponse(path)

    return [web.get("/", index), web.get("/{name:.+}", file)]


def _is_file_of(folder: Path, path: Path) -> bool:
    """Not aiohttp's static route, whose answer for a missing file is empty."""
    try:
        return path.is_file() and path.resolve().is_relative_to(folder.resolve())
    except OSError:  # too long for a name
        return False


async def models(request: web.Request) -> web.Response:
    """In the shape of the OpenAI API's list, which has one entry here."""
    hall = request.app[HALL]
    entry = {
        "id": hall.engine.info.name,
        "object": "model",
        "created": int(hall.started_unix_s),
        "owned_by": "duet",
        "duet": _facts(hall),
    }
    return web.json_response({"object": "list", "data": [entry]})


def _facts(hall: Hall) -> dict[str, Any]:
    info = hall.engine.info
    defaults = asdict(info.sampling)
    del defaults["seed"]  # each session draws its own
    return {
        "trained": info.trained,
        "capacity": hall.admission.capacity,
        "active": hall.admission.active,
        "sampling": defaults,
        "lag_frames": info.lag_frames,
        "context_frames": info.context_frames,
    }


async def health(request: web.Request) -> web.Response:
    """Whether this process is worth keeping."""
    failure = request.app[HALL].engine.failure
    if failure is not None:
        return problem(503, "model_failed", failure)
    return web.json_response({"status": "ok"})


async def ready(request: web.Request) -> web.Response:
    """Whether it is warm and not draining; a full server is ready, and its model list tells it is full."""
    refusal = request.app[HALL].unreadiness()
    return refuse(refusal) if refusal else web.json_response({"status": "ready"})


async def metrics(request: web.Request) -> web.Response:
    body = request.app[HALL].metrics.render()
    return web.Response(body=body, headers={hdrs.CONTENT_TYPE: CONTENT_TYPE})


async def content(request: web.Request) -> web.StreamResponse:
    """The recording of a session that has ended."""
    hall, session_id = request.app[HALL], request.match_info["id"]
    if not SESSION_ID.fullmatch(session_id):
        return _unknown()
    connection = hall.find(session_id)
    if connection is not None and not connection.ended:
        return problem(409, "session_open", "the session still runs; its recording comes when it has ended")
    if hall.archive.is_writing(session_id):
        return problem(409, "session_open", "the session has ended; its recording is being written")
    path = await asyncio.to_thread(hall.archive.find, session_id)
    if path is None:
        return _unknown()
    return web.FileResponse(
        path,
        headers={
            hdrs.CONTENT_TYPE: CONTENT_TYPES[path.suffix],
            hdrs.CONTENT_DISPOSITION: f'attachment; filename="{path.name}"',
        },
    )


async def hang_up(request: web.Request) -> web.Response:
    connection = request.app[HALL].find(request.match_info["id"])
    if connection is None:
        return _unknown()
    connection.hang_up()
    return web.Response(status=204)


def _unknown() -> web.Response:
    return problem(404, "session_not_found", "there is no such session, or it was not recorded")
