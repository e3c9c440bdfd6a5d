"""A successor listens again from a pause before the last told words, and no further back than needed."""

from __future__ import annotations

import pytest

from audio.frames import FRAME_MS
from duet_client.wire import Channel, WireError, Word
from transcribe_sidecar.resume import LEAD_MS, Standing, from_ms, standing


def word(start_ms: int) -> Word:
    return Word("word", start_ms, start_ms + 250, 0.9)


def test_a_call_of_which_nothing_is_told_is_heard_from_its_beginning() -> None:
    assert from_ms({"user": Standing(), "agent": Standing()}) == 0


def test_after_silence_only_a_little_is_heard_again() -> None:
    assert Standing((word(1_000),), 60_000).from_ms == 60_000 - LEAD_MS


def test_in_mid_speech_it_is_heard_again_from_a_pause_between_told_words() -> None:
    told = (word(1_000), word(1_300), word(3_000), word(3_300), word(3_600))
    assert 1_550 < Standing(told, 3_850).from_ms < 3_000


def test_both_channels_are_heard_from_where_the_one_further_back_needs_it_and_a_frame_begins() -> None:
    both: dict[Channel, Standing] = {"user": Standing((), 90_000), "agent": Standing((), 40_123)}
    assert from_ms(both) == (40_123 - LEAD_MS) // FRAME_MS * FRAME_MS


def test_the_state_that_the_server_tells_is_read() -> None:
    told = {"word": "yes", "start_ms": 1, "end_ms": 2, "probability": 0.5}
    state = standing({"user": {"through_ms": 7, "last": [told]}, "agent": {"through_ms": 0, "last": []}})
    assert state["user"] == Standing((Word("yes", 1, 2, 0.5),), 7)


@pytest.mark.parametrize(
    "broken", [{}, {"user": {"through_ms": 7}}, {"user": {"through_ms": "x", "last": []}}]
)
def test_a_state_that_is_none_names_the_channel(broken: dict[str, object]) -> None:
    with pytest.raises(WireError, match=r"transcript\.user"):
        standing(broken)
