"""The page in a real browser against a real server, as the person in front of it sees it."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.sync.client import ClientConnection, connect

KEY = "correct-horse+battery/staple"


@pytest.fixture(scope="module")
def server(start_server: Any) -> Any:
    return start_server("--capacity", "1")


def take_the_place(url: str) -> ClientConnection:
    socket = connect(url.replace("http", "ws") + "v1/live/sessions")
    socket.send(json.dumps({"type": "session.start", "session": {"model": "default"}}))
    assert json.loads(socket.recv(60))["type"] == "session.started"
    return socket


def test_a_call_is_heard_on_both_sides_and_ends_when_hung_up(server: Any, open_page: Any) -> None:
    visit = open_page(server.url)
    page = visit.page
    visit.status("Ready when you are.")
    page.click("#start")
    visit.status("Connected.")
    visit.level("user", "dB$")
    visit.level("agent", "dB$")
    visit.shows("answeredFrames", r"^\d{2,}$")
    visit.shows("playedMs", r"^[1-9]\d*\.\d s$")
    assert visit.number("sentFrames") >= visit.number("answeredFrames")
    assert 0 < visit.number("p50Ms") <= visit.number("p95Ms")
    visit.expect("#words").to_have_text(re.compile(r"^0:0\d.{10}"))

    page.click("#hang-up")
    visit.status("Call ended.")
    assert page.is_visible("#start")
    assert page.is_hidden("#hang-up")
    assert page.is_disabled("#mute")
    assert visit.troubles == []


def test_the_page_names_the_model_its_places_and_that_it_is_untrained(server: Any, open_page: Any) -> None:
    visit = open_page(server.url)
    visit.expect("#places").to_have_text("0 of 1")
    visit.expect("#model").to_have_text("duet-untrained")
    visit.expect("#untrained").to_contain_text("Untrained weights: you will hear noise.")
    visit.expect("#untrained").to_be_visible()


def test_the_page_asks_nobody_but_its_own_server(server: Any, open_page: Any) -> None:
    visit = open_page(server.url)
    visit.page.click("#start")
    visit.status("Connected.")
    visit.page.click("#hang-up")
    visit.status("Call ended.")
    assert {urlsplit(address).netloc for address in visit.requests} == {urlsplit(server.url).netloc}


def test_the_keyboard_alone_makes_a_call_mutes_and_ends_it(server: Any, open_page: Any) -> None:
    visit = open_page(server.url)
    keyboard = visit.page.keyboard
    visit.status("Ready when you are.")
    keyboard.press("Tab")
    keyboard.press("Enter")
    visit.expect("#hang-up").to_be_focused()
    visit.status("Connected.")
    visit.level("user", "dB$")
    keyboard.press("Tab")
    keyboard.press("Space")
    visit.status("Connected, muted")
    visit.expect("#mute").to_have_attribute("aria-pressed", "true")
    visit.level("user", "^silent$")
    keyboard.press("Shift+Tab")
    keyboard.press("Space")
    visit.status("Call ended.")
    visit.expect("#start").to_be_focused()


def test_a_full_server_is_told_before_the_microphone_is_asked_for(server: Any, open_page: Any) -> None:
    visit = open_page(server.url, permissions=("geolocation",))
    with take_the_place(server.url) as socket:
        visit.page.click("#start")
        visit.status("The server is full: it takes one call at a time, and somebody is in it.")
        socket.send(json.dumps({"type": "session.close"}))
        while json.loads(socket.recv(60))["type"] != "session.closed":
            pass


def test_a_microphone_that_was_refused_is_told_with_what_to_do(server: Any, open_page: Any) -> None:
    visit = open_page(server.url, permissions=("geolocation",))
    visit.page.click("#start")
    visit.status("The microphone was refused. Allow it for this page")
    assert visit.page.is_visible("#start")


def test_without_https_the_page_says_how_to_get_a_microphone(server: Any, open_page: Any) -> None:
    visit = open_page(f"http://duet.test:{server.port}/")
    visit.status("Browsers give a page the microphone only over HTTPS or on localhost.")


@pytest.mark.parametrize("width", [320, 390, 700])
def test_nothing_sticks_out_of_a_narrow_page(server: Any, open_page: Any, width: int) -> None:
    page = open_page(server.url, width=width, bypass_csp=True).page
    page.wait_for_selector("#untrained:visible")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_key_is_asked_for_once_and_never_put_in_an_address(start_server: Any, open_page: Any) -> None:
    visit = open_page(start_server("--capacity", "1", keys=KEY).url)
    page = visit.page
    visit.status("This server asks for a key.")
    for key in ("wrong", KEY):
        page.click("#start")
        page.fill("#key", key)
        page.keyboard.press("Enter")
        if key == "wrong":
            visit.expect("#key-trouble").to_have_text("This server does not know that key.")
            page.click("#key-cancel")
    visit.status("Connected.")
    page.click("#hang-up")
    visit.status("Call ended.")
    page.click("#start")
    visit.status("Connected.")
    assert not [address for address in visit.requests if "battery" in address]


def test_a_server_that_stops_is_told_before_and_after(start_server: Any, open_page: Any) -> None:
    server = start_server("--capacity", "1")
    visit = open_page(server.url)
    visit.page.click("#start")
    visit.status("Connected.")
    server.signal()
    visit.status("The server is stopping soon")
    server.signal()
    visit.status("Call ended because the server is stopping.")


def test_a_server_that_goes_and_comes_back_is_told_without_a_click(start_server: Any, open_page: Any) -> None:
    server = start_server("--capacity", "1")
    visit = open_page(server.url)
    visit.expect("#untrained").to_be_visible()
    server.process.kill()
    server.process.wait()
    visit.page.click("#start")
    visit.status("The server cannot be reached.")
    visit.expect("#untrained").to_be_hidden()
    start_server("--capacity", "1", "--port", server.port)
    visit.status("Ready when you are.")
    visit.expect("#untrained").to_be_visible()


def test_a_server_that_dies_is_told_as_a_lost_connection(start_server: Any, open_page: Any) -> None:
    server = start_server("--capacity", "1")
    visit = open_page(server.url)
    visit.page.click("#start")
    visit.status("Connected.")
    server.process.kill()
    visit.status("The connection to the server was lost.")
