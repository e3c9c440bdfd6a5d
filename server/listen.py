"""The sockets the server listens on, and what people call them.

They are bound before the model is loaded, so that a taken port is known at once and not minutes later.
Bound is not listening: until the server is ready a connection is refused, not left waiting.
Refuses to know HTTP and TLS.
"""

from __future__ import annotations

import errno
import socket
from ipaddress import ip_address

from server.settings import ConfigError

_NOT_HERE = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT}
"""What a machine without IPv6 says of ::1, which its localhost may still name."""
_WILDCARDS = ("0.0.0.0", "::")


def bind(host: str, port: int) -> list[socket.socket]:
    """One bound socket for each address of the host that this machine has, all on the same port.

    Raises:
        ConfigError: the host is unknown or not this machine's, or the port is taken or not allowed.
    """
    bound: list[socket.socket] = []
    try:
        for family, address in _addresses(host):
            made = _bind_one(family, address, bound[0].getsockname()[1] if bound else port)
            if made is not None:
                bound.append(made)
    except ConfigError:
        close(bound)
        raise
    if not bound:
        raise ConfigError("host", f"is no address of this machine: {host}")
    return bound


def close(sockets: list[socket.socket]) -> None:
    for each in sockets:
        each.close()


def urls(host: str, port: int, secure: bool) -> list[str]:
    """Where a browser finds the server; a wildcard address goes by this machine's names."""
    names = ["localhost", socket.gethostname()] if host in _WILDCARDS else [host]
    scheme = "https" if secure else "http"
    return [f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}/" for name in names]


def reached_from_elsewhere(sockets: list[socket.socket]) -> bool:
    """Whether another machine can connect."""
    addresses = [str(each.getsockname()[0]).partition("%")[0] for each in sockets]
    return not all(ip_address(address).is_loopback for address in addresses)


def _addresses(host: str) -> list[tuple[int, str]]:
    """The host's addresses, (family, address), each once."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ConfigError("host", f"cannot be found: {host}: {_reason(error)}") from error
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))


def _bind_one(family: int, address: str, port: int) -> socket.socket | None:
    """None where this machine does not have the address."""
    made = None
    try:
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((address, port))
    except OSError as error:
        if made is not None:
            made.close()
        if error.errno in _NOT_HERE:
            return None
        raise ConfigError("port", f"{port} cannot be had on {address}: {_reason(error)}") from error
    return made


def _reason(error: OSError | UnicodeError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
