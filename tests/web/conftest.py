"""A real server as a process of its own, and a real browser whose microphone is a file."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from model.untrained import write_untrained
from tests.web.microphone import write_voice
from tests.web.visit import PAGE_TIMEOUT_MS, Visit, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

ROOT = Path(__file__).resolve().parents[2]
START_S = 180
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
OpenPage = Callable[..., Visit]


@dataclass(frozen=True, slots=True)
class ServerProcess:
    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> str:
        return self.url.rstrip("/").rpartition(":")[2]

    def signal(self) -> None:
        self.process.send_signal(signal.SIGTERM)


@contextmanager
def running_server(folder: Path, arguments: tuple[str, ...], keys: str) -> Iterator[ServerProcess]:
    defaults = ["--port", "0", "--keep", "off", "--sidecar", "off", "--recordings", str(folder / "kept")]
    command = [sys.executable, "-m", "server", *defaults, *arguments]
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


@pytest.fixture(scope="session")
def light_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights that cost little: the browser needs the processor."""
    folder = tmp_path_factory.mktemp("model") / "light"
    folder.mkdir()
    write_untrained(folder, context=25, num_layers=1, n_q=4, dep_q=2, delays=[0, 0, 1, 0, 1])
    return folder


@pytest.fixture(scope="session")
def start_server(tmp_path_factory: pytest.TempPathFactory, light_model: Path) -> Iterator[StartServer]:
    """start_server(*arguments, keys="") -> a server that is up; it is gone after the tests."""
    with ExitStack() as stack:

        def start(*arguments: str, keys: str = "") -> ServerProcess:
            folder = tmp_path_factory.mktemp("server")
            model = ("--model", str(light_model))
            return stack.enter_context(running_server(folder, (*model, *arguments), keys))

        yield start


@pytest.fixture(scope="session")
def small_server(start_server: StartServer) -> ServerProcess:
    """With one place, and keeping nothing."""
    return start_server("--capacity", "1")


@pytest.fixture(scope="session")
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


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """open_page(url, ...) -> a fresh visitor's page; context: what else playwright is told of them."""
    contexts: list[BrowserContext] = []

    def open_(
        url: str,
        permissions: tuple[str, ...] = ("microphone",),
        width: int = 1_440,
        init_script: str = "",
        **context: Any,
    ) -> Visit:
        height = 900 if width > 500 else 844
        opened = browser.new_context(
            permissions=list(permissions), viewport={"width": width, "height": height}, **context
        )
        contexts.append(opened)
        opened.add_init_script(init_script)
        opened.set_default_timeout(PAGE_TIMEOUT_MS)
        return visit(opened.new_page(), url)

    yield open_
    for context in contexts:
        context.close()
