"""Every error the server raises on purpose, as one tree.

    ServerError
    ├── BadParameter    a query parameter that cannot be used: HTTP 400 before the upgrade
    └── SocketLost      the peer is gone, or reads nothing any more

What ends a session is no exception but a row of `server.endings`. Refuses to know who catches what.
"""

from __future__ import annotations

from typing import Any


class ServerError(Exception):
    """Base of all; its text is one line for a person."""


class BadParameter(ServerError):
    """`field` is the parameter's name as the client wrote it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field} {problem}")
        self.field = field

    @property
    def body(self) -> dict[str, Any]:
        return {"error": {"type": "invalid_request_error", "message": str(self), "param": self.field}}


class SocketLost(ServerError):
    """Nothing more can be sent over a connection."""
