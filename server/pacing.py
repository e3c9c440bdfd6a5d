"""How fast a session may take in audio: held to the wall clock, or as fast as the model goes.

Pure: `now` is monotonic seconds, handed in. Refuses to know frames' contents and states.
"""

from __future__ import annotations

from typing import Protocol

from audio.frames import FRAME_MS
from model.engine import INBOX_FRAMES

FRAME_S = FRAME_MS / 1000
LEAD_S = 2.0
"""How far a session's clock may be ahead of the wall clock since its start."""
MUTED_GAP_S = 1.0
"""A muted client may well stop sending; the clock goes on after this pause."""
CATCH_UP_FRAMES = 25
"""Most silence fed at once, after the whole process stood still."""
_EPSILON_S = 1e-6


class Pacer(Protocol):
    """One session's pace."""

    def may_accept(self, accepted: int, in_flight: int, unwritten: int, now: float, /) -> bool:
        """Whether frame number `accepted` may go to the model now.

        in_flight: frames the model has not answered; unwritten: answers the socket has not taken.
        """

    def is_ahead(self, accepted: int, now: float, /) -> bool:
        """Whether the clock alone holds frame number `accepted` back."""

    def arrival(self, accepted: int, heard: float, now: float, /) -> float:
        """Since when frame number `accepted` counts as waiting for an answer."""

    def heard(self, now: float, /) -> None:
        """Audio came."""

    def muted(self, on: bool, now: float, /) -> None:
        """The user was muted or unmuted."""

    def silence_due(self, now: float, /) -> int:
        """How many frames of silence to feed now; each is asked for once."""


class RealTime:
    """The wall clock leads: a burst waits, a gap is filled."""

    def __init__(self, started: float, silence_after_s: float) -> None:
        self._started = started
        self._silence_after_s = self._after_s = silence_after_s
        self._last_audio = started
        self._next_silence = started + silence_after_s

    def may_accept(self, accepted: int, in_flight: int, _unwritten: int, now: float) -> bool:
        return in_flight < INBOX_FRAMES and not self.is_ahead(accepted, now)

    def is_ahead(self, accepted: int, now: float) -> bool:
        return self._due(accepted) > now + _EPSILON_S

    def arrival(self, accepted: int, heard: float, now: float) -> float:
        """What a client sent too early is not late before its time has come."""
        return max(heard, min(self._due(accepted), now))

    def heard(self, now: float) -> None:
        self._last_audio = now
        self._next_silence = now + self._after_s

    def muted(self, on: bool, now: float) -> None:
        self._after_s = min(MUTED_GAP_S, self._silence_after_s) if on else self._silence_after_s
        if on:
            self._next_silence = min(self._next_silence, now + self._after_s)
        elif self._next_silence > now:  # else silence flows already, and goes on until audio comes
            self._next_silence = self._last_audio + self._after_s

    def silence_due(self, now: float) -> int:
        if now + _EPSILON_S < self._next_silence:
            return 0
        due = int((now - self._next_silence + _EPSILON_S) / FRAME_S) + 1
        self._next_silence += due * FRAME_S
        if due <= CATCH_UP_FRAMES:
            return due
        self._next_silence = now + FRAME_S
        return CATCH_UP_FRAMES

    def _due(self, accepted: int) -> float:
        """The earliest moment for a frame: its end is at most LEAD_S ahead of the clock."""
        return self._started + (accepted + 1) * FRAME_S - LEAD_S


class Free:
    """The input is the clock: only answers that nobody has taken yet hold it back."""

    def may_accept(self, _accepted: int, in_flight: int, unwritten: int, _now: float) -> bool:
        return in_flight + unwritten < INBOX_FRAMES

    def is_ahead(self, _accepted: int, _now: float) -> bool:
        return False

    def arrival(self, _accepted: int, _heard: float, now: float) -> float:
        return now

    def heard(self, _now: float) -> None:
        pass

    def muted(self, _on: bool, _now: float) -> None:
        pass

    def silence_due(self, _now: float) -> int:
        return 0
