"""How often a window is heard: often while the machine keeps up, in the end only when an utterance is over.

Windows that wait long for their turn make the interval longer step by step, windows that do not wait make
it shorter again, later. Refuses to know calls and words.
"""

from __future__ import annotations

from dataclasses import dataclass

from duet_client.wire import LagMode

WORSE_S = 2.0
"""A window that waited longer than this is a sign of too much work."""
BETTER_S = 0.5
SETTLE_S = 2.0
"""A step shows its effect after this time."""
RECOVER_S = 5.0


@dataclass(frozen=True, slots=True)
class Pace:
    """interval_ms: new audio that makes a window due; None: only when the utterance is over."""

    interval_ms: int | None
    mode: LagMode


STEPS = (
    Pace(1_000, "streaming"),
    Pace(1_500, "slower"),
    Pace(2_500, "slower"),
    Pace(4_000, "slower"),
    Pace(None, "utterances"),
)


class Pacer:
    """Knows how long the windows waited that were heard lately."""

    def __init__(self) -> None:
        self._step = 0
        self._since: float | None = None  # of the last step
        self._worst_at: float | None = None  # when a window had last waited too long to do more

    @property
    def pace(self) -> Pace:
        return STEPS[self._step]

    def waited(self, longest_s: float, now: float) -> None:
        """The longest that a window has been due by `now`; call it whenever windows are chosen."""
        if self._since is None:
            self._since = self._worst_at = now
        if longest_s > BETTER_S:
            self._worst_at = now
        worse = longest_s > WORSE_S and now - self._since >= SETTLE_S
        better = self._worst_at is not None and now - self._worst_at >= RECOVER_S
        if worse and self._step < len(STEPS) - 1:
            self._go(self._step + 1, now)
        elif better and self._step > 0:
            self._go(self._step - 1, now)

    def _go(self, step: int, now: float) -> None:
        self._step, self._since, self._worst_at = step, now, now
