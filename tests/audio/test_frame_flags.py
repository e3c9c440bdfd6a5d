"""Flags and their run lengths."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from audio.frame_flags import FrameFlags, fold, unfold


def test_equal_neighbours_become_one_run() -> None:
    assert fold(bytes([0, 0, 0, 9, 9, 0])) == [[0, 3], [9, 2], [0, 1]]
    assert fold(b"") == []


def test_a_run_names_its_flags() -> None:
    assert unfold([[9, 2]]) == [FrameFlags.PADDED_INPUT | FrameFlags.SILENCE_FED] * 2


@given(st.binary(max_size=300).map(lambda data: bytes(byte % 64 for byte in data)))
def test_unfolding_gives_every_frame_its_flags_back(flags: bytes) -> None:
    assert bytes(unfold(fold(flags))) == flags
