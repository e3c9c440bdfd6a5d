"""The managed sidecar's way in: a loopback address and a key that nobody else has.

The server's own address may be a wildcard, an IPv6 one or behind a certificate in a public name; this one is
always there and always plain, since it never leaves the machine. The key is new at every start and opens
nothing else, so that whoever else finds the door stays outside, a web page of another site as well.

Refuses to know what comes through it.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from server import listen
from server.auth import Gate

HOST = "127.0.0.1"


class Door:
    """socket: bound, and to be listened on. url: where it leads. key: what opens it."""

    def __init__(self, bound: socket.socket) -> None:
        self.socket = bound
        self.key = secrets.token_urlsafe(32)
        self.gate = Gate((self.key,), local_only=True)
        self._address: tuple[str, int] = bound.getsockname()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._address[1]}"

    def was_used(self, arrived_at: object) -> bool:
        """Whether a connection came in here. arrived_at: its socket's own address."""
        return arrived_at == self._address


@contextmanager
def open_door() -> Iterator[Door]:
    """Raises ConfigError where there is no loopback address."""
    bound = listen.bind(HOST, 0)
    try:
        yield Door(bound[0])
    finally:
        listen.close(bound)
