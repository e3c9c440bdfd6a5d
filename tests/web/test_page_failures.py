"""What can stand in a call's way, and what the page says and does about it."""

from __future__ import annotations

from typing import Any

from tests.web.visit import over

KEY = "correct-horse+battery/staple"
DEVICES = """
const devices = navigator.mediaDevices;
const real = devices.getUserMedia.bind(devices);
const tracks = [];
const contexts = [];
let isGone = false;
devices.getUserMedia = async (wanted) => {
  if (isGone) throw new DOMException("no device", "NotFoundError");
  const stream = await real(wanted);
  tracks.push(...stream.getTracks());
  return stream;
};
window.AudioContext = class extends AudioContext {
  constructor(options) {
    super(options);
    contexts.push(this);
  }
};
window.unplug = () => {
  isGone = true;
  for (const track of tracks) track.stop();
  for (const track of tracks) track.dispatchEvent(new Event("ended"));
};
window.plug = () => {
  isGone = false;
  devices.dispatchEvent(new Event("devicechange"));
};
window.stopClock = () => contexts.at(-1).close();
"""
"""Lets a test take the browser's devices away: no fake device of its own can be unplugged."""
LOSSY = """
const send = WebSocket.prototype.send;
window.loses = false;
WebSocket.prototype.send = function (data) {
  if (typeof data === "string" || !window.loses) send.call(this, data);
};
"""
"""Lets a test take the user's audio away on its way to the server."""


def test_a_microphone_that_was_refused_is_told_with_what_to_do(small_server: Any, open_page: Any) -> None:
    visit = open_page(small_server.url, permissions=("geolocation",))
    visit.page.click("#start")
    visit.status("The microphone was refused. Allow it for this page")
    visit.shot("error-microphone")
    assert visit.page.is_visible("#start")


def test_without_https_the_page_says_how_to_get_a_microphone(small_server: Any, open_page: Any) -> None:
    visit = open_page(f"http://duet.test:{small_server.port}/")
    visit.status("Browsers give the microphone to HTTPS pages and localhost only.")
    visit.shot("error-insecure")


def test_a_microphone_that_goes_in_mid_call_is_told_and_taken_again_when_it_is_back(
    small_server: Any, open_page: Any
) -> None:
    visit = open_page(small_server.url, bypass_csp=True, init_script=DEVICES)
    visit.start()
    visit.level("user", "dB$")
    visit.page.evaluate("unplug()")
    visit.status("The microphone was unplugged: the agent hears silence.")
    visit.level("user", "^silent$")
    visit.shot("error-unplugged")
    visit.page.evaluate("plug()")
    visit.status("The microphone is back.")
    visit.level("user", "dB$")
    visit.page.click("summary")
    visit.expect(".events").to_contain_text("microphone: The microphone was unplugged")
    visit.hang_up()


def test_an_audio_device_that_stops_in_mid_call_is_set_up_anew(small_server: Any, open_page: Any) -> None:
    visit = open_page(small_server.url, bypass_csp=True, init_script=DEVICES)
    visit.start()
    visit.level("user", "dB$")
    visit.page.evaluate("stopClock()")
    visit.status("The audio device changed; the sound was set up anew.")
    visit.level("user", "dB$")
    visit.level("agent", "dB$")
    visit.hang_up()


def test_audio_that_does_not_reach_the_server_is_marked_where_silence_stands_in_for_it(
    start_server: Any, open_page: Any
) -> None:
    server = start_server("--capacity", "1", "--silence-after-s", "1")
    visit = open_page(server.url, bypass_csp=True, init_script=LOSSY)
    visit.start()
    visit.lanes(over(1))
    visit.page.evaluate("loses = true")
    visit.page.click("summary")
    padded = visit.expect(".events")
    padded.to_contain_text("padded: No audio came from here; the server filled in 2000 ms of silence.")
    visit.page.evaluate("loses = false")
    visit.shot("padded")
    visit.hang_up()


def test_a_tab_in_the_background_goes_on_with_its_call(small_server: Any, open_page: Any) -> None:
    visit = open_page(small_server.url)
    visit.start()
    visit.lanes(over(1))
    other = visit.page.context.new_page()
    other.goto(f"{small_server.url}health")
    other.bring_to_front()
    other.wait_for_timeout(3_000)
    visit.page.bring_to_front()
    visit.lanes(over(5))
    visit.status("Connected.")
    visit.hang_up()


def test_a_key_is_asked_for_once_and_never_put_in_an_address(start_server: Any, open_page: Any) -> None:
    visit = open_page(start_server("--capacity", "1", keys=KEY).url)
    page = visit.page
    visit.status("This server asks for a key.")
    for key in ("wrong", KEY):
        page.click("#start")
        visit.expect("#key-dialog").to_be_visible()
        if key == "wrong":
            visit.shot("key")
        page.fill("#key", key)
        page.keyboard.press("Enter")
        if key == "wrong":
            visit.expect("#key-trouble").to_have_text("This server does not know that key.")
            page.click("#key-cancel")
    visit.status("Connected.")
    visit.hang_up()
    visit.start()
    assert not [address for address in visit.requests if "battery" in address]


def test_a_server_that_stops_is_told_before_and_after(start_server: Any, open_page: Any) -> None:
    server = start_server("--capacity", "1")
    visit = open_page(server.url)
    visit.start()
    server.signal()
    visit.status("The server is stopping soon")
    visit.shot("error-draining")
    server.signal()
    visit.status("Call ended because the server is stopping.")


def test_a_server_that_dies_in_mid_call_is_told_with_what_was_kept_and_called_again_when_it_is_back(
    start_server: Any, open_page: Any, tmp_path: Any
) -> None:
    kept = ("--keep", "full", "--recordings", str(tmp_path))
    server = start_server("--capacity", "1", *kept)
    visit = open_page(server.url)
    visit.start()
    visit.lanes(over(2))
    server.process.kill()
    server.process.wait()
    visit.status(
        "The connection to the server was lost. Words and picture stay here, the recording on the server. "
        "Start the call again"
    )
    visit.shot("error-lost")
    for _ in range(2):  # the first may have been asked for with the call's end
        visit.page.wait_for_event("requestfailed", lambda request: request.url.endswith("v1/models"))
    visit.status("The connection to the server was lost.")
    visit.expect("#untrained").to_be_hidden()
    visit.lanes(over(2))
    start_server("--capacity", "1", "--port", server.port, *kept)
    visit.status("The connection to the server was lost.")
    visit.expect("#status").to_contain_text("The server is back.")
    visit.start()
    visit.lanes(over(1))
    visit.hang_up()
