"""How long one picture of the two lanes takes in Chromium, with an hour of call held.

`python -m tests.web.measure_drawing` prints a table: the draw itself (script), the same with its pixels
made (read back, so that nothing is put off), and how far apart the browser's frames are while the page
draws live. A measurement and no test: no time here is asserted.
"""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

from tests.web.shipped import ROOT, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FLAGS = ("--no-sandbox", "--disable-gpu")
SCENES = {
    "live": "at the end, growing",
    "back": "scrolled back",
    "near": "10 ms a pixel",
    "all": "the whole call",
}
COLUMNS = ("script p50", "p99", "with pixels p50", "p99", "frame to frame p50", "p99")


def measure(browser: Browser, url: str, density: int, minutes: int) -> dict[str, list[float]]:
    """By scene, the six columns in ms."""
    context = browser.new_context(viewport={"width": 1_440, "height": 900}, device_scale_factor=density)
    page = context.new_page()
    page.goto(url)
    found: dict[str, list[float]] = page.evaluate("minutes => measure(minutes)", minutes)
    context.close()
    return found


def main() -> int:
    chromium = shutil.which("chromium")
    if chromium is None:
        print("chromium is not installed", file=sys.stderr)
        return 1
    from playwright.sync_api import sync_playwright

    rows: list[dict[str, Any]] = []
    with serving(ROOT) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for minutes, density in ((1, 1), (60, 1), (60, 2)):
            address = f"{url}/tests/web/drawing.html"
            for scene, times in measure(browser, address, density, minutes).items():
                rows.append({"minutes": minutes, "scale": density, "scene": scene, "ms": times})
        browser.close()
    print(f"{'call':>7} {'scale':>5}  {'picture':<22}" + "".join(f"{name:>20}" for name in COLUMNS))
    for row in rows:
        numbers = "".join(f"{each:>20.2f}" for each in row["ms"])
        print(f"{row['minutes']:>4} min {row['scale']:>5}  {SCENES[row['scene']]:<22}{numbers}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
