"""One hour of a call in the page, in a real browser on the test's clock: nothing grows, nothing drifts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

MINUTE_MS = 60_000
MIB = 2**20
SIMULATED = Path(__file__).with_name("simulated_hour.js").read_text("utf-8")
GROWTH_BYTES = 4 * MIB
"""What the second half hour may add. It should add 1.8 MiB: 0.7 of picture (two lanes, 100 peaks a second
and a third as many again in coarser ones, in arrays that double) and 1.1 of words (2,800, at most 400 bytes
each). Elements are no more than before: the page shows the last 400 paragraphs, which half an hour fills."""
DRIFT_MS = 20


def used_bytes(devtools: Any) -> int:
    """The page's memory, once what is used no more has been let go: script, elements and buffers."""
    for _ in range(2):
        devtools.send("HeapProfiler.collectGarbage")
    usage = devtools.send("Runtime.getHeapUsage")
    return int(usage["usedSize"] + usage["embedderHeapUsedSize"] + usage["backingStorageSize"])


def test_an_hour_in_the_page_leaves_its_memory_flat_and_its_delay_as_it_began(
    small_server: Any, open_page: Any
) -> None:
    visit = open_page(small_server.url, bypass_csp=True, init_script=SIMULATED)
    page = visit.page
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.enable")
    visit.start()
    used, delay_ms = {}, {}
    for minute in (1, 30, 60):
        page.evaluate("ms => simulate(ms)", minute * MINUTE_MS)
        used[minute], delay_ms[minute] = used_bytes(devtools), visit.number("playoutMs")
    visit.expect("#elapsed").to_have_text("1:00:00")
    visit.shot("hour")
    assert visit.troubles == []
    visit.hang_up()
    visit.lanes("over 1:00:00: you spoke for 15[89][0-9] seconds, the agent for 15[89][0-9]")
    assert visit.page.locator("#words p").count() == 400
    assert abs(delay_ms[60] - delay_ms[1]) <= DRIFT_MS, delay_ms
    assert used[60] - used[30] < GROWTH_BYTES, {minute: each / MIB for minute, each in used.items()}
