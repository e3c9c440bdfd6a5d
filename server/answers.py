"""HTTP answers in the one shape every refusal has here: a status and `{"error": {"type", "message"}}`.

Refuses to know who is refused and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from aiohttp import hdrs, web


class Refusal(Protocol):
    """What a refused request is told (`server.auth.Refusal`, `server.admission.Unavailable`)."""

    @property
    def status(self) -> int: ...

    @property
    def body(self) -> dict[str, Any]: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


def refuse(refusal: Refusal) -> web.Response:
    return web.json_response(refusal.body, status=refusal.status, headers=dict(refusal.headers))


def problem(status: int, kind: str, message: str) -> web.Response:
    return web.json_response({"error": {"type": kind, "message": message}}, status=status)


def wants_socket(request: web.Request) -> bool:
    return request.headers.get(hdrs.UPGRADE, "").lower() == "websocket"


def no_page(request: web.Request) -> web.Response:
    """For a WebSocket's address that was asked for as a page (RFC 9110, section 15.5.22)."""
    answer = problem(426, "upgrade_required", f"{request.path} is a WebSocket, not a page")
    answer.headers.update({hdrs.UPGRADE: "websocket", hdrs.CONNECTION: "Upgrade"})
    return answer
