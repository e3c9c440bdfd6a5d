"""A real server as a process of its own, and a real browser with a microphone made of a file."""

from __future__ import annotations

import math
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import wave
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

ROOT = Path(__file__).resolve().parents[2]
START_S = 180
PAGE_TIMEOUT_MS = 60_000
CSP = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
"""The strictest policy that the page must live with, whatever the server sends."""
STRANGE_HOST = "duet.test"
"""A name of this machine that is not localhost, so that a browser gives its pages no microphone."""
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    f"--host-resolver-rules=MAP {STRANGE_HOST} 127.0.0.1",
)

StartServer = Callable[..., "ServerProcess"]
OpenPage = Callable[..., "Visit"]


@dataclass(frozen=True, slots=True)
class ServerProcess:
    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> str:
        return self.url.rstrip("/").rpartition(":")[2]

    def signal(self) -> None:
        self.process.send_signal(signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Visit:
    """A page and what went wrong in it. requests: every address it asked for, WebSockets too."""

    page: Page
    troubles: list[str]
    requests: list[str]

    def status(self, beginning: str) -> None:
        """Waits until the status line begins so."""
        self.page.wait_for_function(
            "beginning => document.querySelector('#status').textContent.startsWith(beginning)", arg=beginning
        )

    def number(self, name: str) -> float:
        text = self.page.text_content(f'[data-number="{name}"]') or ""
        return float(text.split()[0].replace("–", "0"))

    def number_reaches(self, name: str, least: float) -> None:
        self.page.wait_for_function(
            "([name, least]) => parseFloat(document.querySelector(`[data-number=${name}]`).textContent) >= least",
            arg=[name, least],
        )


@contextmanager
def running_server(folder: Path, arguments: tuple[str, ...], keys: str) -> Iterator[ServerProcess]:
    command = [sys.executable, "-m", "server", "--port", "0", "--record", "never", *arguments]
    environment = os.environ | {"OMP_NUM_THREADS": "1"} | ({"DUET_API_KEYS": keys} if keys else {})
    log = folder / "server.log"
    with log.open("w") as stderr:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True
        )
        try:
            assert process.stdout is not None
            select.select([process.stdout], [], [], START_S)
            url = re.search(r"http://\S+/", process.stdout.readline())
            assert url is not None, log.read_text()
            yield ServerProcess(url.group(), process)
        finally:
            process.kill()
            process.communicate()


@pytest.fixture(scope="module")
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartServer]:
    """start_server(*arguments, keys="") -> a server that is up; it is gone after the module."""
    with ExitStack() as stack:

        def start(*arguments: str, keys: str = "") -> ServerProcess:
            folder = tmp_path_factory.mktemp("server")
            return stack.enter_context(running_server(folder, arguments, keys))

        yield start


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed: the page was not tried in a browser")
    reason = "playwright is not installed: the page was not tried in a browser"
    api = pytest.importorskip("playwright.sync_api", reason=reason)
    voice = tmp_path_factory.mktemp("microphone") / "voice.wav"
    write_voice(voice)
    flags = [*FLAGS, f"--use-file-for-fake-audio-capture={voice}"]
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=flags)
        yield launched
        launched.close()


def write_voice(path: Path) -> None:
    """Two seconds of a 300 Hz tone that comes and goes like syllables."""
    rate = 48_000
    wanted = (9_000 * math.sin(math.tau * 300 * i / rate) * math.sin(math.pi * 3 * i / rate) for i in range(2 * rate))
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(b"".join(struct.pack("<h", int(sample)) for sample in wanted))


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """open_page(url, permissions=..., width=...) -> a fresh visitor's page, under the policy CSP."""
    contexts: list[BrowserContext] = []

    def open_(url: str, permissions: tuple[str, ...] = ("microphone",), width: int = 1_200) -> Visit:
        context = browser.new_context(
            permissions=list(permissions), viewport={"width": width, "height": 900}
        )
        contexts.append(context)
        context.set_default_timeout(PAGE_TIMEOUT_MS)
        return visit(context.new_page(), url)

    yield open_
    for context in contexts:
        context.close()


def visit(page: Page, url: str) -> Visit:
    seen = Visit(page, [], [])
    page.on("pageerror", lambda error: seen.troubles.append(str(error)))
    page.on("console", lambda message: seen.troubles.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("websocket", lambda socket: seen.requests.append(socket.url))
    page.route(url, guarded)
    page.goto(url)
    return seen


def guarded(route: Route) -> None:
    response = route.fetch()
    route.fulfill(response=response, headers=response.headers | {"content-security-policy": CSP})
