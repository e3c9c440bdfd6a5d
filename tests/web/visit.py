"""A page that somebody looks at, with what a test waits for in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PAGE_TIMEOUT_MS = 60_000
SHOTS = Path(__file__).resolve().parents[2] / "build" / "page"
"""Where the tests leave pictures of the page, for people to look at; git ignores it."""


def over(seconds: int) -> str:
    """Matches the picture's words from so many seconds of call on (less than 50), however late one looks."""
    tens, ones = divmod(seconds, 10)
    return rf"over (0:{tens}[{ones}-9]|0:[{tens + 1}-5]\d|[1-9]\d*:)"


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

    def start(self) -> None:
        self.page.click("#start")
        self.status("Connected.")

    def hang_up(self) -> None:
        self.page.click("#hang-up")
        self.status("Call ended.")

    def shows(self, name: str, pattern: str) -> None:
        """Waits until the number of this name looks so."""
        self.expect(f'[data-number="{name}"]').to_have_text(re.compile(pattern))

    def number(self, name: str) -> float:
        return float(self.page.inner_text(f'[data-number="{name}"]').split()[0])

    def level(self, side: str, pattern: str) -> None:
        """Waits until the meter reads so: "silent", or so many dB."""
        self.expect(f"#{side}-level").to_have_attribute("aria-valuetext", re.compile(pattern))

    def lanes(self, pattern: str) -> None:
        """Waits until the picture, as it is told to who cannot see it, reads so."""
        self.expect("canvas.lanes").to_have_attribute("aria-label", re.compile(pattern))

    def expect(self, selector: str) -> Any:
        """Playwright's waiting assertions about an element."""
        from playwright.sync_api import expect

        expect.set_options(timeout=PAGE_TIMEOUT_MS)
        return expect(self.page.locator(selector))

    def shot(self, name: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", animations="disabled")


def visit(page: Page, url: str) -> Visit:
    seen = Visit(page, [], [])
    page.on("pageerror", lambda error: seen.troubles.append(str(error)))
    page.on("console", lambda message: seen.troubles.append(f"{message.type}: {message.text}"))
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("websocket", lambda socket: seen.requests.append(socket.url))
    page.goto(url)
    return seen


def pixels(locator: Locator) -> np.ndarray[Any, np.dtype[np.int16]]:
    """What an element looks like: [height, width, 3], 0 to 255."""
    import io

    from PIL import Image

    picture = Image.open(io.BytesIO(locator.screenshot())).convert("RGB")
    return np.asarray(picture, dtype=np.int16)


def count_near(picture: np.ndarray[Any, Any], colour: tuple[int, int, int]) -> int:
    """How many pixels are of about this colour."""
    return int((np.abs(picture - np.array(colour)).max(axis=-1) < 24).sum())
