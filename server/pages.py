"""The plain HTTP routes: model list, probes, metrics, recordings, transcripts, hanging up, the browser page.

Refuses to know WebSockets.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aiohttp import hdrs, web

from server.answers import problem, refuse
from server.hall import HALL, Hall
from server.metrics import CONTENT_TYPE
from server.negotiation import INSTRUCTIONS, VOICES
from server.sidecar_process import SIDECAR

SESSION_ID = re.compile(r"sess_[0-9a-f]{32}")
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",  # an upgraded server must not meet half of an old page
}
"""The page talks to its own server, runs no inline script and sits in nobody's frame."""
WRITING_WAIT_S = 5.0
"""How long a request waits for what is still being written of a call that has ended: mostly for moments."""
LOOK_AGAIN_S = 0.05
CONTENT_TYPES = {".wav": "audio/wav", ".flac": "audio/flac", ".json": "application/json"}


def routes() -> list[web.RouteDef]:
    return [
        web.get("/v1/models", models),
        web.get("/v1/live/sessions/{id}/content", content),
        web.get("/v1/live/sessions/{id}/transcript", transcript),
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
        "instructions": INSTRUCTIONS,
        "voices": list(VOICES),
        "lag_frames": info.lag_frames,
        "context_frames": info.context_frames,
    }


async def health(request: web.Request) -> web.Response:
    """Whether this process is worth keeping, and how the sidecar is, without which calls go on."""
    failure = request.app[HALL].engine.failure
    if failure is not None:
        return problem(503, "model_failed", failure)
    return web.json_response({"status": "ok", "sidecar": request.app[SIDECAR].describe()})


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
    if _runs(hall, session_id):
        return problem(409, "session_open", "the session still runs; its recording comes when it has ended")

    async def is_whole() -> bool:
        return not hall.archive.is_writing(session_id)

    if not await _comes_about(is_whole):
        return problem(409, "session_open", "the session has ended; its recording is being written")
    path = await asyncio.to_thread(hall.archive.find, session_id)
    if path is None:
        return _unknown()
    return _download(path)


async def transcript(request: web.Request) -> web.StreamResponse:
    """The transcript of a session that has ended; its `status` tells whether a better one is to come."""
    hall, session_id = request.app[HALL], request.match_info["id"]
    if not SESSION_ID.fullmatch(session_id):
        return _unknown()
    if _runs(hall, session_id):
        return problem(409, "session_open", "the session still runs; its transcript comes when it has ended")

    async def find() -> Path | None:
        return await asyncio.to_thread(hall.transcripts.find, session_id)

    async def is_there_or_never() -> bool:
        return not hall.transcripts.is_writing(session_id) or await find() is not None

    settled = await _comes_about(is_there_or_never)
    path = await find()
    if path is not None:
        return _download(path)
    if not settled:
        return problem(409, "session_open", "the session has ended; its transcript is being written")
    return _unknown()


async def _comes_about(what: Callable[[], Awaitable[bool]]) -> bool:
    """Whether it did within WRITING_WAIT_S."""
    for _ in range(round(WRITING_WAIT_S / LOOK_AGAIN_S)):
        if await what():
            return True
        await asyncio.sleep(LOOK_AGAIN_S)
    return await what()


def _runs(hall: Hall, session_id: str) -> bool:
    connection = hall.find(session_id)
    return connection is not None and not connection.ended


def _download(path: Path) -> web.FileResponse:
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
    return problem(404, "session_not_found", "there is no such session, or nothing of it was kept")
