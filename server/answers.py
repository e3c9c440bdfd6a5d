"""HTTP answers in the one shape every refusal has here: a status and `{"error": {"type", "message"}}`.

Refuses to know who is refused and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from aiohttp import web


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
