"""Where a session is opened: from what a person types to the WebSocket's address and headers.

Refuses to know sockets; bad input gets a ConnectError that says what would be right.
"""

from __future__ import annotations

import os
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from duet_client.errors import ConnectError

DEFAULT_SERVER = "ws://localhost:8998"
KEY_VARIABLE = "DUET_API_KEY"

_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}
_ENDPOINT = "/v1/live/sessions"


def session_url(server: str, *, binary: bool) -> str:
    """The endpoint below a base address: `http://host/duet` -> `ws://host/duet/v1/live/sessions`.

    A base that already ends in `/v1` or in the endpoint itself is understood.
    """
    return _url(server, _ENDPOINT, {"audio": "binary"} if binary else {})


def attach_url(
    server: str, session_id: str, *, audio: str, from_ms: int | None = None, transcribe: bool = False
) -> str:
    """Where one session is observed. audio: events (the server's own choice), binary or none."""
    query = {} if audio == "events" else {"audio": audio}
    if from_ms is not None:
        query["from_ms"] = str(from_ms)
    if transcribe:
        query["transcribe"] = "true"
    return _url(server, f"{_ENDPOINT}/{quote(session_id, safe='')}/attach", query)


def observe_url(server: str) -> str:
    """Where a server tells of its sessions."""
    return _url(server, "/v1/live/observe", {})


def content_url(server: str, session_id: str) -> str:
    """Where the server gives out its own recording of a session, over HTTP."""
    url = session_url(server, binary=False)
    return f"http{url.removeprefix('ws')}/{quote(session_id, safe='')}/content"


def headers(api_key: str | None) -> dict[str, str]:
    """The Authorization header for `api_key`, or for the DUET_API_KEY variable where it is None."""
    key = os.environ.get(KEY_VARIABLE, "") if api_key is None else api_key
    if not key:
        return {}
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConnectError("the API key may hold only printable ASCII characters without spaces")
    return {"Authorization": f"Bearer {key}"}


def _url(server: str, path: str, query: dict[str, str]) -> str:
    try:
        parts = urlsplit(server.strip())
        known = parts.scheme in _SCHEMES and parts.hostname is not None
        _ = parts.port  # raises where it is no number up to 65535
    except ValueError as error:
        raise ConnectError(f"the server address {server!r} cannot be read: {error}") from None
    if not known or parts.query or parts.fragment:
        raise ConnectError(
            f"the server address must look like ws://HOST:PORT, wss://, http:// or https://, not {server!r}"
        )
    base = parts.path.rstrip("/").removesuffix(_ENDPOINT).removesuffix("/v1")
    return urlunsplit((_SCHEMES[parts.scheme], parts.netloc, base + path, urlencode(query), ""))
