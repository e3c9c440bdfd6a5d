"""When a turn of the agent's is over."""

from __future__ import annotations

import numpy as np

from audio.frames import FRAME_SAMPLES, Samples, silence
from server.guardrails.turn import QUIET_FRAMES, Turn

LOUD: Samples = np.full(FRAME_SAMPLES, 0.1, np.float32)
HISS: Samples = np.full(FRAME_SAMPLES, 0.001, np.float32)


def lasts(frames: list[tuple[Samples, str]]) -> int:
    """How many of the frames belong to the turn."""
    turn = Turn()
    for n, (pcm, text) in enumerate(frames, 1):
        if not turn.goes_on(pcm, text):
            return n
    return len(frames)


def test_a_turn_ends_after_800_ms_of_quiet_without_text() -> None:
    assert QUIET_FRAMES == 10
    assert lasts([(LOUD, ""), *[(silence(), "")] * 50]) == 11
    assert lasts([(LOUD, ""), *[(HISS, "")] * 50]) == 11


def test_a_shorter_pause_or_a_piece_of_text_is_still_the_turn() -> None:
    pause = [(silence(), "")] * 9
    assert lasts([*pause, (LOUD, ""), *pause, (silence(), " and"), *pause]) == 29


def test_speech_without_any_text_is_a_turn_too() -> None:
    assert lasts([(LOUD, "")] * 100) == 100
