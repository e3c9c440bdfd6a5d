"""One WebSocket to a server: opened, sent and received on, and what went wrong in words of use.

Refuses to know what the messages mean.
"""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass
from typing import NoReturn

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from duet_client.address import KEY_VARIABLE
from duet_client.errors import (
    ConnectError,
    Forbidden,
    NoSession,
    ServerFull,
    SessionLost,
    Unauthorized,
    Unreachable,
)

OPEN_TIMEOUT_S = 20.0
_CLOSE_TIMEOUT_S = 5.0
_MESSAGE_MAX = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Link:
    """A WebSocket that says SessionLost when it ends. before: what had not come yet when it did."""

    raw: ClientConnection
    before: str

    async def send(self, message: str | bytes) -> None:
        try:
            await self.raw.send(message)
        except ConnectionClosed as closed:
            raise self._lost(closed) from None

    async def receive(self) -> str | bytes:
        try:
            return await self.raw.recv()
        except ConnectionClosed as closed:
            raise self._lost(closed) from None

    async def close(self) -> None:
        await self.raw.close()

    def _lost(self, closed: ConnectionClosed) -> SessionLost:
        code = closed.rcvd.code if closed.rcvd else 1006
        reason = f": {closed.rcvd.reason}" if closed.rcvd and closed.rcvd.reason else ""
        return SessionLost(f"the connection ended before {self.before} (code {code}{reason})", code)


async def open_link(
    url: str, extra: dict[str, str], before: str, ping_timeout_s: float | None = None
) -> Link:
    """extra: HTTP headers.

    ping_timeout_s: none by default, for a server that slows a client down reads late, its pings too.

    Raises:
        ConnectError: ServerFull, Unauthorized, Forbidden, NoSession or Unreachable.
    """
    try:
        raw = await open_socket(
            url,
            additional_headers=extra,
            compression=None,  # audio does not shrink, and deflate costs both sides
            open_timeout=None,
            ping_timeout=ping_timeout_s,
            close_timeout=_CLOSE_TIMEOUT_S,
            max_size=_MESSAGE_MAX,
        )
    except InvalidStatus as refused:
        _refused(refused, url)
    except (InvalidHandshake, EOFError, ConnectionResetError) as error:
        said = str(error) or "it hung up"
        raise Unreachable(f"{url} does not answer as a WebSocket server: {said}{_other(url)}") from None
    except ssl.SSLCertVerificationError as error:
        raise Unreachable(f"{url} cannot be trusted: {error.verify_message or error}") from None
    except ssl.SSLError as error:
        raise Unreachable(f"{url} does not answer with TLS: {error}{_other(url)}") from None
    except OSError as error:
        raise Unreachable(f"{url} cannot be reached: {error}") from None
    return Link(raw, before)


def _other(url: str) -> str:
    """A hint for whoever mixed up plain and encrypted."""
    return f" (try {'ws:// if it speaks no TLS' if url.startswith('wss:') else 'wss:// if it speaks TLS'})"


def _refused(refused: InvalidStatus, url: str) -> NoReturn:
    response = refused.response
    kind, said = _problem(response.body or b"")
    match response.status_code:
        case 401:
            said = said or "the API key is missing or wrong"
            raise Unauthorized(f"{said} (set the variable {KEY_VARIABLE})")
        case 403:
            raise Forbidden(said or "the server does not serve this origin")
        case 404 if kind == "session_not_found":
            raise NoSession(said)
        case 503:
            raise ServerFull(said or "the server is full", _seconds(response.headers.get("Retry-After")))
        case status:
            raise ConnectError(f"{url} answered HTTP {status}" + (f": {said}" if said else ""))


def _problem(body: bytes) -> tuple[str, str]:
    """`error.type` and `error.message` of a refusal's JSON body, or nothing where it has another shape."""
    try:
        error = json.loads(body)["error"]
        return str(error.get("type", "")), str(error["message"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "", ""


def _seconds(retry_after: str | None) -> float | None:
    return float(retry_after) if retry_after is not None and retry_after.isdecimal() else None
