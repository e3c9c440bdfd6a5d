"""Who may connect: API keys and web origins, decided from a request's headers alone.

A key comes as `Authorization: Bearer KEY`. A browser cannot set that header on a WebSocket, so its page
offers two subprotocols instead: `duet`, and `duet.key.` followed by the key in unpadded base64url; the
server picks `duet`. A key is never read from the URL, which proxies and histories keep.

A request with an Origin header comes from a web page. Pages of this very server, pages of the visitor's
own machine and the listed origins are let in. No Origin: not a browser, so only the key counts.

A server that only its own machine can reach must also be asked for by a local name (localhost, 127.x,
::1), or else a foreign site could point its name here after its page has loaded (DNS rebinding) and pass
for this very server. Behind a proxy that keeps the outer name, list the origin.

Refuses to know sockets, routes and where keys are kept.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

SUBPROTOCOL = "duet"
KEY_SUBPROTOCOL_PREFIX = "duet.key."

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer to a request that may not go on. `reason` is short and fixed, fit for a metric's label."""

    status: int
    reason: str
    message: str

    @property
    def body(self) -> dict[str, Any]:
        return {"error": {"type": self.reason, "message": self.message}}

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}


MISSING_KEY = Refusal(401, "missing_api_key", "this server asks for an API key: Authorization: Bearer KEY")
WRONG_KEY = Refusal(401, "wrong_api_key", "the API key is not one of this server's")


class Gate:
    """Lets a request in or says why not. Without keys, no key is asked for.

    local_only: the server listens on loopback addresses alone.
    """

    def __init__(
        self, keys: Iterable[str] = (), allowed_origins: Iterable[str] = (), local_only: bool = False
    ) -> None:
        self._local_only = local_only
        self._digests = [_digest(key) for key in keys]
        self._allowed = {origin for text in allowed_origins if (origin := _origin(text))}

    def refusal(self, headers: Mapping[str, str]) -> Refusal | None:
        """headers: the request's, looked up by any case of the name."""
        return self.origin_refusal(headers) or self.key_refusal(headers)

    def key_refusal(self, headers: Mapping[str, str]) -> Refusal | None:
        if not self._digests:
            return None
        key = presented_key(headers)
        if key is None:
            return MISSING_KEY
        return None if self._knows(key) else WRONG_KEY

    def origin_refusal(self, headers: Mapping[str, str]) -> Refusal | None:
        text = headers.get("Origin")
        if text is None:
            return None
        origin, host = _origin(text), headers.get("Host", "")
        if origin and origin in self._allowed:
            return None
        if self._local_only and not _names_this_machine(host):
            return _foreign(f"pages may connect to this server as localhost only, not as {host[:200]!r}")
        if origin and (is_local(origin[1]) or _serves(host, origin)):
            return None
        return _foreign(f"pages of {text[:200]!r} may not connect to this server")

    def _knows(self, key: str) -> bool:
        """Compares with every key, whole, so that the time taken tells nothing."""
        digest, known = _digest(key), False
        for mine in self._digests:
            known |= hmac.compare_digest(mine, digest)
        return known


def presented_key(headers: Mapping[str, str]) -> str | None:
    """The key a request carries; None where it carries none that can be read."""
    scheme, _, key = headers.get("Authorization", "").strip().partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return key.strip()
    for offered in headers.get("Sec-WebSocket-Protocol", "").split(","):
        if offered.strip().startswith(KEY_SUBPROTOCOL_PREFIX):
            return _unwrap(offered.strip().removeprefix(KEY_SUBPROTOCOL_PREFIX))
    return None


def _unwrap(token: str) -> str | None:
    try:
        return base64.b64decode(token + "=" * (-len(token) % 4), altchars="-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def _origin(text: str) -> tuple[str, str, int] | None:
    """An origin as (scheme, host, port); None for what is none, such as the `null` of a sandboxed page."""
    parts = _split(text)
    if parts is None or parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS[parts.scheme]


def _split(text: str) -> SplitResult | None:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _foreign(message: str) -> Refusal:
    return Refusal(403, "foreign_origin", message)


def is_local(host: str) -> bool:
    """Whether a name or address, without a port, is the machine's own: localhost or a loopback address."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _names_this_machine(host_header: str) -> bool:
    here = _origin(f"http://{host_header}")
    return here is not None and is_local(here[1])


def _serves(host_header: str, origin: tuple[str, str, int]) -> bool:
    """Whether the page came from the host that is now asked. The scheme is the page's: behind a proxy
    that ends TLS, this server cannot know its own."""
    here = _origin(f"{origin[0]}://{host_header}")
    return here is not None and here[1:] == origin[1:]
