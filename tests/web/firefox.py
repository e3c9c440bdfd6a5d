"""Firefox without a screen, with a microphone that hums, driven over WebDriver BiDi (its own wire).

Playwright's Firefox is a build of its own; this is the one that people have. Its audio stands still where
there is no sound device, so it gets one that leads nowhere.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from websockets.sync.client import connect
from websockets.sync.connection import Connection

PREFERENCES = {
    "media.navigator.streams.fake": True,
    "media.navigator.permission.disabled": True,
    "media.autoplay.default": 0,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "browser.aboutwelcome.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "network.captive-portal-service.enabled": False,
    "app.update.enabled": False,
}
PATIENCE_S = 90
"""For one thing that is waited for; most take a second, on a machine that has other things to do ten."""
LOOK_S = 10
"""How long the page itself waits for one thing before it is asked anew."""
WAIT = """
new Promise((resolve) => {
  const [selector, attribute, pattern] = %s;
  const read = () => {
    const node = document.querySelector(selector);
    return attribute ? node.getAttribute(attribute) : node.textContent;
  };
  const look = () => {
    if (!new RegExp(pattern).test(read())) return;
    changes.disconnect();
    resolve("");
  };
  const changes = new MutationObserver(look);
  changes.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  look();
  setTimeout(() => {
    changes.disconnect();
    resolve(`${selector} reads ${read()}, not ${pattern}`);
  }, %d);
})
"""
"""Ends as soon as an element of the page reads as wanted: with nothing, or with what is wrong."""


class Unanswered(Exception):
    """Firefox did not answer on its own wire: nothing that a page can do or leave undone in good time."""


class Tab:
    """One page. Raises AssertionError where it takes too long, Unanswered where Firefox stands still."""

    def __init__(self, socket: Connection) -> None:
        self._socket = socket
        self._commands = 0
        self._send("session.new", {"capabilities": {}})
        self._context = self._send("browsingContext.getTree", {})["contexts"][0]["context"]

    def open(self, url: str) -> None:
        self._send("browsingContext.navigate", {"context": self._context, "url": url, "wait": "complete"})

    def run(self, expression: str) -> Any:
        """What an expression gives: text, a number, or nothing. It counts as somebody's click."""
        answer = self._send(
            "script.evaluate",
            {
                "expression": expression,
                "target": {"context": self._context},
                "awaitPromise": True,
                "userActivation": True,
            },
        )
        assert answer["type"] == "success", answer
        return answer["result"].get("value")

    def shows(self, selector: str, pattern: str, attribute: str = "") -> None:
        """Waits until an element reads so."""
        wanted = json.dumps([selector, attribute, pattern])
        end_s = time.monotonic() + PATIENCE_S
        while (trouble := self.run(WAIT % (wanted, 1_000 * LOOK_S))) and time.monotonic() < end_s:
            pass
        assert not trouble, trouble

    def _send(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._commands += 1
        self._socket.send(json.dumps({"id": self._commands, "method": method, "params": params}))
        while (message := self._received(method)).get("id") != self._commands:
            pass
        assert message["type"] == "success", message
        result: dict[str, Any] = message["result"]
        return result

    def _received(self, asked: str) -> dict[str, Any]:
        try:
            message: dict[str, Any] = json.loads(self._socket.recv(PATIENCE_S))
        except TimeoutError:
            raise Unanswered(f"Firefox has not answered {asked} in {PATIENCE_S} s") from None
        return message


@contextmanager
def deaf_sound_device(program: str, folder: Path) -> Iterator[str]:
    """A PulseAudio server whose sound nobody hears; gives its address."""
    address = f"unix:{folder / 'sound'}"
    modules = [
        f"module-native-protocol-unix socket={folder / 'sound'} auth-anonymous=1",
        "module-null-sink",
    ]
    command = [
        program,
        "-n",
        "--daemonize=no",
        "--exit-idle-time=-1",
        "--log-level=info",
        "--log-target=stderr",
        *(f"--load={each}" for each in modules),
    ]
    environment = os.environ | {"XDG_RUNTIME_DIR": str(folder), "HOME": str(folder)}
    with _running(command, environment, "Daemon startup complete"):
        yield address


@contextmanager
def running_firefox(program: str, profile: Path, sound: str) -> Iterator[Tab]:
    """sound: the address of a PulseAudio server."""
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
    profile.mkdir()
    (profile / "user.js").write_text("\n".join(lines))
    command = [
        program,
        "--headless",
        "--no-remote",
        "--profile",
        str(profile),
        "--remote-debugging-port",
        "0",
    ]
    environment = os.environ | {"PULSE_SERVER": sound, "XDG_RUNTIME_DIR": str(profile.parent)}
    with (
        _running(command, environment, r"WebDriver BiDi listening on (ws://\S+)") as listening,
        connect(f"{listening.group(1)}/session", max_size=None, open_timeout=PATIENCE_S) as socket,
    ):
        yield Tab(socket)


@contextmanager
def _running(command: list[str], environment: dict[str, str], pattern: str) -> Iterator[re.Match[str]]:
    """A program that has said a line on its stderr. The rest is read away: a full pipe would hold it up."""
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        rest = Thread(target=process.stderr.read)
        try:
            found = next(filter(None, (re.search(pattern, line) for line in process.stderr)), None)
            assert found, f"{command[0]} ended before it said {pattern!r}"
            rest.start()
            yield found
        finally:
            process.kill()
            if rest.ident is not None:
                rest.join()
