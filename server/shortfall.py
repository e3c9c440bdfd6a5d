"""Where a session's input was not what its user sent, told in spans and not frame by frame.

Silence that was made because no audio came is one span as long as it lasts, told in pieces of two
seconds; audio that came and was never heard is told once, at the end. Pure. Refuses to know why
either happened.
"""

from __future__ import annotations

from server.actions import Missed

PIECE_FRAMES = 25
"""The longest span that is told at once: who fell silent for an hour hears of it every 2 s."""


class Shortfall:
    """One session's. Every method returns what is to be told now."""

    def __init__(self) -> None:
        self._first = self._frames = 0

    def filled(self, frame: int) -> list[Missed]:
        """Frame number `frame` is silence that nobody sent; it follows the one before."""
        if not self._frames:
            self._first = frame
        self._frames += 1
        return self.heard() if self._frames == PIECE_FRAMES else []

    def heard(self) -> list[Missed]:
        """The next frame is the user's own."""
        frames, self._frames = self._frames, 0
        return [Missed("filled", self._first, frames)] if frames else []

    def over(self, frame: int, dropped: int) -> list[Missed]:
        """No frame follows the `frame` first ones; so many more came and were not heard."""
        return [*self.heard(), *([Missed("dropped", frame, dropped)] if dropped else [])]
