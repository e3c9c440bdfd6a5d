"""The page in a real browser against a real server, as the person in front of it sees it."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit

from websockets.sync.client import connect
from websockets.sync.connection import Connection

from tests.web.visit import count_near, over, pixels

USER_INK = (26, 114, 134)
"""The user's colour by day, client/web/style/theme.css."""


def take_the_place(url: str) -> Connection:
    socket = connect(url.replace("http", "ws") + "v1/live/sessions")
    socket.send(json.dumps({"type": "session.start", "session": {"model": "default"}}))
    assert json.loads(socket.recv(60))["type"] == "session.started"
    return socket


def leave(socket: Connection) -> None:
    socket.send(json.dumps({"type": "session.close"}))
    while json.loads(socket.recv(60))["type"] != "session.closed":
        pass


def test_a_call_is_heard_and_seen_on_both_sides_and_ends_when_hung_up(
    small_server: Any, open_page: Any
) -> None:
    visit = open_page(small_server.url)
    page = visit.page
    visit.status("Ready when you are.")
    visit.start()
    visit.level("user", "dB$")
    visit.level("agent", "dB$")
    visit.lanes(r"you spoke for [1-9]\d* seconds")
    assert count_near(pixels(page.locator("canvas.lanes")), USER_INK) > 200
    visit.shows("playoutMs", r"^\d+ ms$")
    visit.shows("stepMs", r"^\d+\.\d ms$")
    assert 0 < visit.number("p50Ms") <= visit.number("p95Ms") <= visit.number("p99Ms")
    visit.expect("#words .agent").to_contain_text(re.compile(r"\w{3}"))

    visit.hang_up()
    assert page.is_visible("#start")
    assert page.is_hidden("#hang-up")
    assert page.is_disabled("#mute")
    assert visit.troubles == []


def test_the_numbers_are_copied_as_json(small_server: Any, open_page: Any) -> None:
    visit = open_page(
        small_server.url, permissions=("microphone", "clipboard-read", "clipboard-write"), bypass_csp=True
    )
    visit.start()
    visit.shows("p50Ms", "ms$")
    visit.page.click("#copy")
    visit.expect("#copy").to_have_text("Copied")
    copied = json.loads(visit.page.evaluate("navigator.clipboard.readText()"))
    visit.hang_up()
    assert copied["model"] == "duet-untrained"
    assert copied["trained"] is False
    assert set(copied["sampling"]) >= {"seed", "text_temperature", "audio_top_k"}
    assert copied["round_trip_ms"]["n"] > 0
    assert copied["frames"]["sent"] >= copied["frames"]["answered"] > 0


def test_the_page_names_the_model_its_places_and_that_it_is_untrained(
    small_server: Any, open_page: Any
) -> None:
    visit = open_page(small_server.url)
    visit.expect("#places").to_have_text("0 of 1")
    visit.expect("#model").to_have_text("duet-untrained")
    visit.expect("#untrained").to_contain_text("Untrained weights: you will hear noise.")
    visit.expect("#untrained").to_be_visible()


def test_the_page_asks_nobody_but_its_own_server(small_server: Any, open_page: Any) -> None:
    visit = open_page(small_server.url)
    visit.start()
    visit.page.click("#open-settings")
    visit.page.keyboard.press("Escape")
    visit.hang_up()
    assert {urlsplit(address).netloc for address in visit.requests} == {urlsplit(small_server.url).netloc}


def test_the_keyboard_alone_makes_a_call_mutes_and_ends_it(small_server: Any, open_page: Any) -> None:
    visit = open_page(small_server.url)
    keyboard = visit.page.keyboard
    visit.status("Ready when you are.")
    keyboard.press("Tab")
    visit.expect("#open-settings").to_be_focused()
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
    keyboard.press("Tab")
    visit.expect("canvas.lanes").to_be_focused()
    visit.expect(".readout").to_contain_text("+ and - zoom")
    keyboard.press("Home")
    visit.expect(".follow").to_be_enabled()
    keyboard.press("End")
    visit.page.focus("#hang-up")
    keyboard.press("Space")
    visit.status("Call ended.")
    visit.expect("#start").to_be_focused()


def test_the_picture_stands_still_when_told_to_and_tells_what_is_pointed_at(
    small_server: Any, open_page: Any
) -> None:
    visit = open_page(small_server.url)
    visit.start()
    visit.lanes(over(4))
    visit.page.click(".follow")
    visit.expect(".follow").to_have_text("Go on")
    visit.page.hover("canvas.lanes", position={"x": 40, "y": 60})
    visit.expect(".readout").to_have_text(re.compile(r"^0:0\d\.\d  .*speak"))
    visit.hang_up()
    visit.expect(".follow").to_be_disabled()


def test_a_full_server_is_told_before_the_microphone_is_asked_for(small_server: Any, open_page: Any) -> None:
    visit = open_page(small_server.url, permissions=("geolocation",))
    with take_the_place(small_server.url) as socket:
        visit.page.click("#start")
        visit.status("The server is full: it takes one call at a time, and somebody is in it.")
        visit.shot("error-full")
        leave(socket)
    visit.status("Ready when you are.")


def test_what_is_set_is_used_remembered_and_reset(small_server: Any, open_page: Any) -> None:
    visit = open_page(small_server.url)
    page = visit.page
    visit.expect("#textTemperature").to_have_attribute("placeholder", "0.7")
    page.click("#open-settings")
    visit.expect("#instructions").to_be_disabled()
    visit.expect("#instructions-reason").to_have_text("duet-untrained takes no instructions here.")
    page.fill("#textTopK", "-1")
    visit.expect("#textTopK-trouble").to_contain_text("must be a whole number from 0")
    page.fill("#textTopK", "")
    page.fill("#seed", "7")
    page.uncheck("#noiseSuppression")
    page.reload()
    visit.expect("#seed").to_have_value("7")
    visit.expect("#noiseSuppression").not_to_be_checked()
    page.click("#open-settings")
    page.click("#reset")
    visit.expect("#seed").to_have_value("")
    visit.expect("#noiseSuppression").to_be_checked()
    visit.expect("#reset").to_be_disabled()
