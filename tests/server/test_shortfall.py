"""Where a session's input was not what its user sent, in spans."""

from __future__ import annotations

from server.actions import Missed
from server.shortfall import PIECE_FRAMES, Shortfall


def test_silence_is_one_span_as_long_as_it_lasts() -> None:
    shortfall = Shortfall()
    assert [told for frame in (7, 8, 9) for told in shortfall.filled(frame)] == []
    assert shortfall.heard() == [Missed("filled", 7, 3)]
    assert shortfall.heard() == []


def test_long_silence_is_told_in_pieces_that_adjoin() -> None:
    shortfall = Shortfall()
    told = [each for frame in range(3 * PIECE_FRAMES) for each in shortfall.filled(frame)]
    assert told == [Missed("filled", PIECE_FRAMES * n, PIECE_FRAMES) for n in range(3)]
    assert shortfall.heard() == []


def test_the_end_tells_what_is_left_and_what_was_dropped_once() -> None:
    shortfall = Shortfall()
    shortfall.filled(4)
    assert shortfall.over(5, 3) == [Missed("filled", 4, 1), Missed("dropped", 5, 3)]
    assert shortfall.over(5, 0) == []
