"""Where a session is opened."""

from __future__ import annotations

import pytest

from duet_client.address import content_url, headers, session_url
from duet_client.errors import ConnectError


@pytest.mark.parametrize(
    ("server", "url"),
    [
        ("ws://localhost:8998", "ws://localhost:8998/v1/live/sessions"),
        ("wss://voice.example", "wss://voice.example/v1/live/sessions"),
        ("http://localhost:8998/", "ws://localhost:8998/v1/live/sessions"),
        ("https://voice.example/v1", "wss://voice.example/v1/live/sessions"),
        ("https://voice.example/duet/", "wss://voice.example/duet/v1/live/sessions"),
        ("ws://[::1]:8998/v1/live/sessions", "ws://[::1]:8998/v1/live/sessions"),
    ],
)
def test_every_base_address_leads_to_the_same_endpoint(server: str, url: str) -> None:
    assert session_url(server, binary=False) == url
    assert session_url(server, binary=True) == url + "?audio=binary"


def test_a_stored_session_is_fetched_below_the_same_address_over_http() -> None:
    assert content_url("ws://h:1/duet", "sess_1") == "http://h:1/duet/v1/live/sessions/sess_1/content"
    assert content_url("https://h", "a/b") == "https://h/v1/live/sessions/a%2Fb/content"


@pytest.mark.parametrize(
    "server", ["localhost:8998", "ftp://host", "ws://", "", "ws://host:99999", "ws://host?x=1", "ws://[::1"]
)
def test_what_is_no_server_address_is_refused_by_name(server: str) -> None:
    with pytest.raises(ConnectError, match="server address"):
        session_url(server, binary=True)


def test_the_key_comes_from_the_argument_and_else_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DUET_API_KEY", "from-env")
    assert headers("given") == {"Authorization": "Bearer given"}
    assert headers(None) == {"Authorization": "Bearer from-env"}
    assert headers("") == {}


@pytest.mark.parametrize("key", ["two words", "line\r\nX-Admin: 1", "schlüssel"])
def test_a_key_that_would_break_the_header_is_refused(key: str) -> None:
    with pytest.raises(ConnectError, match="API key"):
        headers(key)
