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
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).resolve().parents[2]
START_S = 180
PAGE_TIMEOUT_MS = 30_000
STRANGE_HOST = "duet.test"
"""A name of this machine that is not localhost, so that a browser gives its pages no microphone."""
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
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

    # A policy without eval rules out page.evaluate; locators look from outside the page's own world.

    def status(self, beginning: str) -> None:
        """Waits until the status line begins so."""
        self.expect("#status").to_have_text(re.compile("^" + re.escape(beginning)))

    def shows(self, name: str, pattern: str) -> None:
        """Waits until the number of this name looks so."""
        self.expect(f'[data-number="{name}"]').to_have_text(re.compile(pattern))

    def number(self, name: str) -> float:
        return float(self.page.inner_text(f'[data-number="{name}"]').split()[0])

    def level(self, side: str, pattern: str) -> None:
        """Waits until the meter reads so: "silent", or so many dB."""
        self.expect(f"#{side}-level").to_have_attribute("aria-valuetext", re.compile(pattern))

    def expect(self, selector: str) -> Any:
        """Playwright's waiting assertions about an element."""
        from playwright.sync_api import expect

        expect.set_options(timeout=PAGE_TIMEOUT_MS)
        return expect(self.page.locator(selector))


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
    times = (i / rate for i in range(2 * rate))
    samples = (9_000 * math.sin(math.tau * 300 * t) * math.sin(math.tau * 1.5 * t) for t in times)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(b"".join(struct.pack("<h", int(sample)) for sample in samples))


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """open_page(url, ...) -> a fresh visitor's page."""
    contexts: list[BrowserContext] = []

    def open_(
        url: str, permissions: tuple[str, ...] = ("microphone",), width: int = 1_200, bypass_csp: bool = False
    ) -> Visit:
        context = browser.new_context(
            permissions=list(permissions), viewport={"width": width, "height": 900}, bypass_csp=bypass_csp
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
    page.on("console", lambda message: seen.troubles.append(f"{message.type}: {message.text}"))
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("websocket", lambda socket: seen.requests.append(socket.url))
    page.goto(url)
    return seen
