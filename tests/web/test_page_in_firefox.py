"""The same page in Firefox, where there is one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.web.firefox import Tab, Unanswered, deaf_sound_device, running_firefox
from tests.web.visit import over

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
PULSEAUDIO = shutil.which("pulseaudio")
ATTEMPTS = 3
"""Seen once: a Firefox that answered nothing more for three minutes, in the middle of a call."""


@pytest.mark.skipif(FIREFOX is None, reason="Firefox is not installed: the page was not tried in it")
@pytest.mark.skipif(
    PULSEAUDIO is None, reason="PulseAudio is not installed: Firefox has no sound device here"
)
def test_firefox_captures_and_plays_a_call(small_server: Any, tmp_path: Path) -> None:
    assert FIREFOX is not None
    assert PULSEAUDIO is not None
    with deaf_sound_device(PULSEAUDIO, tmp_path) as sound:
        for attempt in range(ATTEMPTS):
            try:
                with running_firefox(FIREFOX, tmp_path / f"profile-{attempt}", sound) as tab:
                    hold_a_call(tab, small_server.url)
                return
            except Unanswered:
                if attempt == ATTEMPTS - 1:
                    raise


def hold_a_call(tab: Tab, url: str) -> None:
    tab.open(url)
    tab.shows("#status", "^Ready when you are")
    tab.run("document.querySelector('#start').click()")
    tab.shows("#status", r"^Connected\.")
    tab.shows("#user-level", "dB$", attribute="aria-valuetext")
    tab.shows("#agent-level", "dB$", attribute="aria-valuetext")
    tab.shows("canvas.lanes", over(2), attribute="aria-label")
    tab.run("document.querySelector('#hang-up').click()")
    tab.shows("#status", r"^Call ended\.")
