"""Addresses are taken before anything slow happens, and named as a person would type them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from server.listen import bind, close, reached_from_elsewhere, urls
from server.settings import ConfigError


@contextmanager
def bound(host: str, port: int = 0) -> Iterator[list[socket.socket]]:
    sockets = bind(host, port)
    try:
        yield sockets
    finally:
        close(sockets)


def test_a_free_port_is_the_same_one_on_every_address_of_the_host() -> None:
    with bound("localhost") as sockets:
        assert len({each.getsockname()[1] for each in sockets}) == 1
        assert sockets[0].getsockname()[1] > 0


def test_a_bound_socket_refuses_connections_until_it_listens() -> None:
    with bound("127.0.0.1") as (only,):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(only.getsockname())
        only.listen()
        socket.create_connection(only.getsockname()).close()


def test_a_taken_port_is_named() -> None:
    with bound("127.0.0.1") as (taken,):
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            ConfigError, match=f"port {port} cannot be had on 127.0.0.1: Address already in use"
        ):
            bind("127.0.0.1", port)


def test_a_port_taken_on_one_of_the_addresses_leaves_none_of_the_others_bound() -> None:
    with bound("127.0.0.1") as (taken,):
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError):
            bind("localhost", port)
    with bound("localhost", port):
        pass


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b"])
def test_an_unknown_host_is_named(host: str) -> None:
    with pytest.raises(ConfigError, match=f"host cannot be found: {host}"):
        bind(host, 0)


def test_an_address_of_another_machine_is_named() -> None:
    with pytest.raises(ConfigError, match="host is no address of this machine: 192.0.2.1"):
        bind("192.0.2.1", 0)


def test_only_an_address_beyond_loopback_is_reached_from_elsewhere() -> None:
    with bound("localhost") as sockets:
        assert not reached_from_elsewhere(sockets)
    with bound("0.0.0.0") as sockets:
        assert reached_from_elsewhere(sockets)


def test_urls_are_what_a_browser_takes() -> None:
    assert urls("localhost", 8998, secure=False) == ["http://localhost:8998/"]
    assert urls("::1", 443, secure=True) == ["https://[::1]:443/"]


def test_every_interface_goes_by_the_names_of_this_machine() -> None:
    assert urls("0.0.0.0", 80, secure=False) == ["http://localhost:80/", f"http://{socket.gethostname()}:80/"]
