"""Certificates: a good pair gives a working context, a bad one gives a line that says what is wrong."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from server.settings import ConfigError
from server.tls import tls_context
from tests.server.certificates import make_pair


def shake_hands(server: ssl.SSLContext, trusted: Path) -> str | None:
    """A whole TLS handshake in memory; the version that both settle on."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context(cafile=str(trusted))
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname="localhost"),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for end in ends * 3:
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            continue
    return ends[0].version()


def refusal(cert: Path, key: Path) -> ConfigError:
    with pytest.raises(ConfigError) as refused:
        tls_context(cert, key)
    return refused.value


def test_a_certificate_with_its_key_serves_a_client_that_trusts_it(tmp_path: Path) -> None:
    cert, key = make_pair(tmp_path)
    assert shake_hands(tls_context(cert, key), trusted=cert) == "TLSv1.3"


def test_versions_before_tls_1_2_are_not_spoken(tmp_path: Path) -> None:
    assert tls_context(*make_pair(tmp_path)).minimum_version == ssl.TLSVersion.TLSv1_2


def test_a_key_of_another_certificate_is_told_apart(tmp_path: Path) -> None:
    cert, _ = make_pair(tmp_path, "mine")
    _, key = make_pair(tmp_path, "other")
    error = refusal(cert, key)
    assert error.field == "tls_key"
    assert "does not belong to the certificate" in error.problem


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    cert, key = make_pair(tmp_path)
    assert refusal(tmp_path / "none.pem", key).on_command_line == (
        f"--tls-cert cannot be read: {tmp_path / 'none.pem'}: No such file or directory"
    )
    assert refusal(cert, tmp_path).problem.endswith("Is a directory")


def test_a_file_that_is_no_certificate_is_told_apart_from_one_that_is_no_key(tmp_path: Path) -> None:
    cert, key = make_pair(tmp_path)
    junk = tmp_path / "junk.pem"
    junk.write_text("hello")
    assert refusal(junk, key).field == "tls_cert"
    assert refusal(cert, junk).field == "tls_key"


def test_a_key_with_a_passphrase_is_refused_instead_of_asking_the_terminal(tmp_path: Path) -> None:
    cert, key = make_pair(tmp_path, passphrase=b"sesame")
    assert "passphrase" in refusal(cert, key).problem
