"""A TLS context from a certificate and its key, or one clear line about what is wrong with them.

Refuses to know sockets. Both wires and the pages use the one context.
"""

from __future__ import annotations

import ssl
from pathlib import Path

from server.settings import ConfigError


def tls_context(cert: Path, key: Path) -> ssl.SSLContext:
    """A server's context, TLS 1.2 and up.

    Raises:
        ConfigError: a file cannot be read or is no PEM, the key asks for a passphrase, or the two do
            not belong together.
    """
    _require_readable("tls_cert", cert)
    _require_readable("tls_key", key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(cert, key, password=_no_passphrase)
    except _Passphrase:
        raise ConfigError("tls_key", f"must not be encrypted: {key} asks for a passphrase") from None
    except ssl.SSLError as error:
        raise _explained(error, cert, key) from error
    return context


class _Passphrase(Exception):
    """The key is encrypted. Without this, OpenSSL would ask the terminal and wait."""


def _no_passphrase() -> str:
    raise _Passphrase


def _require_readable(field: str, path: Path) -> None:
    try:
        path.read_bytes()
    except OSError as error:
        raise ConfigError(field, f"cannot be read: {path}: {error.strerror}") from error


def _explained(error: ssl.SSLError, cert: Path, key: Path) -> ConfigError:
    if error.reason == "KEY_VALUES_MISMATCH":
        return ConfigError("tls_key", f"does not belong to the certificate: {key} and {cert} differ")
    if not _holds_certificate(cert):
        return ConfigError("tls_cert", f"is not a certificate in PEM form: {cert}")
    return ConfigError("tls_key", f"is not a private key in PEM form: {key}")


def _holds_certificate(cert: Path) -> bool:
    try:
        ssl.create_default_context(cafile=str(cert))
    except ssl.SSLError:
        return False
    return True
