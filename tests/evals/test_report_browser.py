"""The report in a real Chromium: no errors, no requests, and a click is heard.

The page's policy has no `eval`, which reading the audio element's state needs; so what is fetched
and what is complained about is watched under the policy, and the element's state without it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evals.report.command import main
from tests.evals.report_runs import write_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

TIMEOUT_MS = 30_000
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
LATENCIES = [0.25, -0.2, 1.5]
STOPS = [0.6, None, 0.35]
INTERRUPTION = "c01#0002"
"""From 7.0 to 7.6 s; played from 6.5 to 8.1 s."""

Open = Callable[..., "Visit"]


class Visit:
    """A page, what went wrong in it, and every address that it asked for."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.troubles: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", lambda message: self.troubles.append(f"{message.type}: {message.text}"))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(address)

    def expect(self, selector: str) -> Any:
        from playwright.sync_api import expect

        expect.set_options(timeout=TIMEOUT_MS)
        return expect(self.page.locator(selector))

    def sound(self) -> dict[str, Any]:
        """The audio element as it is now."""
        read = "a => ({at: a.currentTime, paused: a.paused, seconds: a.duration, error: a.error})"
        state: dict[str, Any] = self.page.locator("#audio").evaluate(read)
        return state

    def wait_for_sound(self, condition: str) -> None:
        self.page.wait_for_function(
            f"(() => {{ const a = document.getElementById('audio'); return {condition} }})()"
        )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed: the report was not tried in a browser")
    reason = "playwright is not installed: the report was not tried in a browser"
    api = pytest.importorskip("playwright.sync_api", reason=reason)
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    this = write_run(folder / "this", LATENCIES, STOPS)
    other = write_run(folder / "other", [0.4, 0.1, 1.2], STOPS, with_sound=False)
    arguments = [str(this), "--compare", str(other), "-o", str(folder / "report.html")]
    assert main([*arguments, "--audio-limit-mb", "0.25"]) == 0  # room for two of the three
    return folder / "report.html"


@pytest.fixture
def open_report(browser: Browser, report: Path) -> Iterator[Open]:
    contexts: list[BrowserContext] = []

    def open_(*, event: str = "", watched: bool = False, width: int = 1_200, dark: bool = False) -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            bypass_csp=not watched,
        )
        context.set_default_timeout(TIMEOUT_MS)
        contexts.append(context)
        return Visit(context.new_page(), report.as_uri() + (f"#{event.replace('#', '%23')}" if event else ""))

    yield open_
    for context in contexts:
        context.close()


def mark(event: str) -> str:
    return f'.mark[data-event="{event}"]'


def test_under_its_own_policy_the_page_complains_of_nothing_and_asks_for_nothing(
    open_report: Open, report: Path
) -> None:
    visit = open_report(watched=True)
    visit.page.click(mark(INTERRUPTION))
    visit.expect("#playing").to_contain_text("interruption by the user, 600 ms")
    visit.page.select_option("#conversation", "1")
    visit.expect(mark("c02#0001")).to_be_visible()
    assert visit.troubles == []
    assert [url for url in visit.requests if not url.startswith("blob:")] == [report.as_uri()]


def test_a_click_on_an_event_plays_its_clip_and_stops_after_it(open_report: Open) -> None:
    visit = open_report()
    visit.page.click(mark(INTERRUPTION))
    visit.wait_for_sound("!a.paused && a.currentTime > 7.0")
    assert visit.sound()["seconds"] == pytest.approx(12.0, abs=0.05)
    visit.wait_for_sound("a.paused")
    ended = visit.sound()
    assert 8.1 <= ended["at"] < 9.0
    assert ended["error"] is None


def test_a_click_in_the_table_plays_the_clip_of_another_conversation(open_report: Open) -> None:
    visit = open_report()
    visit.page.click('tr[data-event="c02#0001"] .play')
    visit.wait_for_sound("!a.paused && a.currentTime > 2.3")
    visit.expect("#playing").to_contain_text("response, −200 ms: 2.80 to 3.00 s of c02")
    assert visit.page.input_value("#conversation") == "1"


def test_a_click_on_a_lane_puts_the_play_head_there(open_report: Open) -> None:
    visit = open_report()
    box = visit.page.locator(".row").bounding_box()
    assert box is not None
    visit.page.locator(".row").click(position={"x": box["width"] * 0.75, "y": 35})
    visit.wait_for_sound("Math.abs(a.currentTime - 9.0) < 0.05")
    visit.expect(".head[visibility=visible]").to_have_count(1)


def test_the_keyboard_walks_the_events_and_plays_one(open_report: Open) -> None:
    visit = open_report()
    visit.page.focus("#per-row")
    visit.page.keyboard.press("Tab")
    visit.expect(mark("c01#0001")).to_be_focused()
    visit.page.keyboard.press("ArrowRight")
    visit.expect(mark(INTERRUPTION)).to_be_focused()
    visit.page.keyboard.press("Enter")
    visit.wait_for_sound("!a.paused && a.currentTime > 6.5")
    visit.page.focus("#play-pause")
    visit.page.keyboard.press("Enter")
    visit.wait_for_sound("a.paused")


def test_an_event_without_its_sound_says_so(open_report: Open) -> None:
    visit = open_report()
    visit.page.click('tr[data-event="c03#0001"] .play')
    visit.expect("#playing").to_contain_text("the sound of this conversation is not in the file")
    assert visit.sound()["paused"]


def test_a_link_to_an_event_shows_its_conversation(open_report: Open) -> None:
    visit = open_report(event="c02#0002")
    visit.expect("#conversation").to_have_value("1")
    visit.expect(f"{mark('c02#0002')}.chosen").to_be_visible()


def column(visit: Visit, number: int) -> list[str]:
    return visit.page.locator(f"#events tbody td:nth-child({number})").all_inner_texts()


def test_the_table_is_sorted_up_and_down_with_empty_values_last(open_report: Open) -> None:
    visit = open_report()
    visit.page.click('[data-sort="value"]')
    rising = column(visit, 7)
    assert rising == [
        "−200 ms",
        "+250 ms",
        "350 ms",
        "600 ms",
        "+1\u202f500 ms",
        "over 5\u202f000 ms",
        "–",
        "–",
        "–",
    ]
    visit.page.click('[data-sort="value"]')
    assert column(visit, 7) == [*rising[5::-1], "–", "–", "–"]
    visit.expect('th[aria-sort="descending"]').to_contain_text("value")


def test_the_table_is_filtered_by_each_of_its_fields(open_report: Open) -> None:
    visit = open_report()
    visit.page.select_option('[data-filter="name"]', "interruption by the user")
    visit.expect("[data-count]").to_have_text("3 of 9 events")
    visit.page.select_option('[data-filter="conversation"]', "c02")
    visit.expect("[data-count]").to_have_text("1 of 9 events")
    visit.page.select_option('[data-filter="name"]', "")
    visit.page.check('[data-filter="doubtful"]')
    visit.expect("[data-count]").to_have_text("2 of 9 events")
    visit.page.fill('[data-filter="text"]', "WAIT")
    visit.expect("[data-count]").to_have_text("1 of 9 events")


def test_words_are_shown_where_there_is_room_for_them(open_report: Open) -> None:
    visit = open_report()
    visit.expect(".row .word").to_have_text(["so", "<b>what</b>", "is", "it", "well", "it", "is", "this"])
    narrow = open_report(width=420)
    narrow.expect(".row .word").to_have_count(0)


def test_shorter_rows_are_more_rows(open_report: Open) -> None:
    visit = open_report()
    visit.expect(".row").to_have_count(1)
    visit.page.select_option("#per-row", "10")
    visit.expect(".row").to_have_count(2)


def test_a_plot_follows_the_reader_s_theme(open_report: Open) -> None:
    colours = []
    for dark in (False, True):
        visit = open_report(dark=dark)
        bar = visit.page.locator('#plots svg [style*="--agent"]').first
        colours.append(bar.evaluate("part => getComputedStyle(part).getPropertyValue('--agent').trim()"))
    assert colours == ["#d55e00", "#f0913a"]


def test_the_page_does_not_scroll_sideways_on_a_telephone(open_report: Open) -> None:
    visit = open_report(width=400)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 400
