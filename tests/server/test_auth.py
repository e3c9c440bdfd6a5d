"""Who gets in: keys and origins, from headers alone."""

from __future__ import annotations

import base64
import json

import pytest
from multidict import CIMultiDict

from server.auth import Gate, presented_key

KEY = "k+/=with.every~kind"


def headers(**named: str) -> CIMultiDict[str]:
    return CIMultiDict({name.replace("_", "-"): value for name, value in named.items()})


def offered(key: str) -> str:
    return "duet, duet.key." + base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


def status(gate: Gate, **named: str) -> int | None:
    refusal = gate.refusal(headers(**named))
    return refusal.status if refusal else None


def test_without_keys_everybody_who_is_no_web_page_gets_in() -> None:
    assert status(Gate()) is None


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_right_key_gets_in(scheme: str) -> None:
    assert status(Gate([KEY]), authorization=f"{scheme} {KEY}") is None


def test_each_of_several_keys_gets_in() -> None:
    gate = Gate(["first", "second", "third"])
    assert [status(gate, authorization=f"Bearer {key}") for key in ("first", "second", "third")] == [None] * 3


@pytest.mark.parametrize("key", ["wrong", "firs", "first2", "FIRST", "fürst"])
def test_any_other_key_is_401(key: str) -> None:
    refusal = Gate(["first"]).refusal(headers(authorization=f"Bearer {key}"))
    assert refusal is not None
    assert (refusal.status, refusal.reason) == (401, "wrong_api_key")


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer ", "Basic first", "first"])
def test_no_key_is_401_and_the_answer_says_how_to_give_one(authorization: str) -> None:
    refusal = Gate(["first"]).refusal(headers(authorization=authorization))
    assert refusal is not None
    assert (refusal.status, refusal.reason) == (401, "missing_api_key")
    assert refusal.headers == {"WWW-Authenticate": "Bearer"}
    assert json.loads(json.dumps(refusal.body))["error"]["type"] == "missing_api_key"
    assert "Authorization: Bearer" in refusal.body["error"]["message"]


def test_a_browser_gives_its_key_as_a_subprotocol() -> None:
    assert status(Gate([KEY]), sec_websocket_protocol=offered(KEY)) is None


def test_a_subprotocol_with_another_key_is_401() -> None:
    assert status(Gate([KEY]), sec_websocket_protocol=offered("other")) == 401


@pytest.mark.parametrize("token", ["duet", "duet.key.!!", "duet.key.a", "duet.key._w", ""])
def test_a_subprotocol_that_holds_no_readable_key_counts_as_none(token: str) -> None:
    assert presented_key(headers(sec_websocket_protocol=token)) is None


def test_a_refusal_never_repeats_the_key() -> None:
    refusal = Gate([KEY]).refusal(headers(authorization="Bearer hush"))
    assert refusal is not None
    assert "hush" not in json.dumps(refusal.body)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://talk.example:8998", "talk.example:8998"),
        ("https://talk.example", "talk.example"),
        ("https://talk.example", "talk.example:443"),
        ("http://TALK.example", "talk.example"),
        ("http://[2001:db8::1]:8998", "[2001:db8::1]:8998"),
    ],
)
def test_a_page_of_this_very_server_gets_in(origin: str, host: str) -> None:
    assert status(Gate(), origin=origin, host=host) is None


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:3000",
        "https://localhost",
        "http://127.0.0.1:8998",
        "http://[::1]:80",
        "http://a.localhost",
    ],
)
def test_a_page_of_the_visitors_own_machine_gets_in(origin: str) -> None:
    assert status(Gate(), origin=origin, host="talk.example") is None


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://talk.example:9000",
        "http://localhost.evil.example",
        "http://notlocalhost",
        "http://talk.example.evil.example",
        "null",
        "file://",
        "",
        "http://[broken",
        "http://talk.example:port",
        "ftp://talk.example",
    ],
)
def test_a_foreign_page_is_403_even_with_the_right_key(origin: str) -> None:
    refusal = Gate([KEY]).refusal(headers(origin=origin, host="talk.example", authorization=f"Bearer {KEY}"))
    assert refusal is not None
    assert (refusal.status, refusal.reason, refusal.headers) == (403, "foreign_origin", {})


def test_a_listed_origin_gets_in_and_its_neighbours_do_not() -> None:
    gate = Gate(allowed_origins=["https://app.example"])
    assert status(gate, origin="https://app.example:443", host="talk.example") is None
    assert status(gate, origin="http://app.example", host="talk.example") == 403
    assert status(gate, origin="https://app.example:8443", host="talk.example") == 403


HERE = Gate(local_only=True)


@pytest.mark.parametrize("host", ["localhost:8998", "localhost", "127.0.0.1:8998", "127.8.8.8", "[::1]:8998"])
def test_a_server_of_this_machine_only_lets_in_pages_that_ask_for_it_by_a_local_name(host: str) -> None:
    assert status(HERE, origin=f"http://{host}", host=host) is None


@pytest.mark.parametrize(
    "host",
    ["evil.example:8998", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::2]", ""],
)
def test_a_foreign_name_that_was_pointed_at_this_machine_is_403_though_its_page_seems_our_own(
    host: str,
) -> None:
    refusal = HERE.refusal(headers(origin=f"http://{host}", host=host))
    assert refusal is not None
    assert (refusal.status, refusal.reason) == (403, "foreign_origin")
    assert f"as localhost only, not as {host!r}" in refusal.message
    assert status(HERE, origin="http://localhost:8998", host=host) == 403
    assert status(HERE, host=host) is None  # no page


def test_a_listed_origin_reaches_a_server_of_this_machine_only_through_a_proxy() -> None:
    gate = Gate(allowed_origins=["https://talk.example"], local_only=True)
    assert status(gate, origin="https://talk.example", host="talk.example") is None


def test_an_allowed_page_still_needs_its_key() -> None:
    gate = Gate([KEY], allowed_origins=["https://app.example"])
    assert status(gate, origin="https://app.example", host="talk.example") == 401
