"""The page for everybody: narrow, dark, by keyboard and screen reader. Leaves pictures to be looked at."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.visit import over

GRAVE = ("serious", "critical")


def findings(page: Any) -> list[str]:
    """What axe-core finds grave, each with where."""
    reason = "axe-playwright-python is not installed: nobody looked for what shuts people out"
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=reason).Axe()
    violations = axe.run(page).response["violations"]
    return [
        f"{each['id']}: {node['target']}"
        for each in violations
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_shuts_people_out(small_server: Any, open_page: Any, scheme: str) -> None:
    visit = open_page(small_server.url, bypass_csp=True, color_scheme=scheme)
    page = visit.page
    visit.status("Ready when you are.")
    found = findings(page)
    visit.shot(f"idle-{scheme}")
    page.click("#open-settings")
    visit.shot(f"settings-{scheme}")
    found += findings(page)
    page.keyboard.press("Escape")
    visit.start()
    visit.lanes(over(3))
    found += findings(page)
    visit.shot(f"call-{scheme}")
    visit.hang_up()
    found += findings(page)
    assert found == []


def test_nothing_sticks_out_of_a_narrow_page(small_server: Any, open_page: Any) -> None:
    visit = open_page(small_server.url, bypass_csp=True)
    page = visit.page
    page.wait_for_selector("#untrained:visible")
    for width in (320, 390, 700, 1_000):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        visit.shot(f"idle-{width}")
        page.click("#open-settings")
        assert page.evaluate("document.querySelector('#settings').scrollWidth") <= width
        page.keyboard.press("Escape")


def test_nothing_moves_when_a_call_begins_and_ends(small_server: Any, open_page: Any) -> None:
    visit = open_page(small_server.url)
    places = [
        visit.page.locator(name) for name in ("#mute", "canvas.lanes", "#words", "#numbers", "#recording")
    ]
    visit.status("Ready when you are.")
    visit.expect("#untrained").to_be_visible()
    before = [place.bounding_box() for place in places]
    visit.start()
    visit.lanes(over(2))
    during = [place.bounding_box() for place in places]
    visit.hang_up()
    after = [place.bounding_box() for place in places]
    assert before == during == after


def test_a_call_fits_a_phone(small_server: Any, open_page: Any) -> None:
    visit = open_page(small_server.url, width=390, device_scale_factor=2, bypass_csp=True)
    visit.start()
    visit.lanes(over(4))
    visit.shot("call-phone")
    canvas = "document.querySelector('canvas.lanes')"
    assert visit.page.evaluate(f"{canvas}.width") == 2 * visit.page.evaluate(f"{canvas}.clientWidth")
    visit.hang_up()
