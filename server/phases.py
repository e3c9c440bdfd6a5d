"""When a newcomer is welcomed, so that its frames come when the fewest others do.

A session's phase is when in a frame's time its frames arrive: the arrival modulo 80 ms. The model steps
whoever is ready, so calls that all began in one moment would all wait for one large step. Most clients
begin to send when they are welcomed; a welcome that is held back by less than a frame therefore chooses
the newcomer's phase, and no frame of anybody's ever waits for it.
Pure: `now` is monotonic seconds, handed in. Refuses to know sockets, wires and what a welcome is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from server.pacing import FRAME_S

SILENT_S = 2.0
"""Whose last frame is older sends nothing: it takes no part of a frame's time."""
FOLLOW = 0.25
"""How far one arrival moves what is known: jitter evens out, and a sound card's drift is kept up with."""


def wait_s(phases: Iterable[float], now: float) -> float:
    """How long after `now` the middle of the widest gap between the phases is, in [0, FRAME_S).

    Of gaps that are equally wide, to the microsecond, the one that comes soonest; 0 without phases.
    """
    ahead = sorted((phase - now) % FRAME_S for phase in phases)
    if not ahead:
        return 0.0
    gaps = [
        (end - start, (start + end) / 2 % FRAME_S) for start, end in pairwise([*ahead, ahead[0] + FRAME_S])
    ]
    return min(gaps, key=lambda gap: (-round(gap[0], 6), gap[1]))[1]


@dataclass(slots=True)
class Beat:
    """One session's phase, expected until it is heard. last: its newest frame, or its welcome."""

    welcomed: float
    phase: float
    last: float
    heard: bool = False


class Phases:
    """The sessions that were welcomed, and how long after a welcome the first frame comes (modulo a frame).

    That is the network's round trip and what the client needs; it is learned from one newcomer for the
    next. Without it, clients that need half a frame would all land on the same phase.

    spreading: whether anybody has to wait. At a free pace there is no phase: a session's frames come as
    fast as they are answered.
    """

    def __init__(self, spreading: bool) -> None:
        self._spreading = spreading
        self._lag_s: float | None = None
        self.beats: dict[str, Beat] = {}

    def welcome(self, session_id: str, now: float) -> float:
        """How many seconds this newcomer's welcome is held back; from now on its phase is taken."""
        if not self._spreading:
            return 0.0
        taken = [beat.phase for beat in self.beats.values() if now - beat.last < SILENT_S]
        lag_s = self._lag_s or 0.0
        wait = wait_s(taken, now + lag_s)
        moment = now + wait
        self.beats[session_id] = Beat(moment, (moment + lag_s) % FRAME_S, moment)
        return wait

    def came(self, session_id: str, arrived: float) -> None:
        """A frame that the client sent is complete."""
        beat = self.beats.get(session_id)
        if beat is None:
            return
        if not beat.heard and arrived >= beat.welcomed:
            self._lag_s = _followed(self._lag_s, arrived - beat.welcomed)
        is_known = beat.heard and arrived - beat.last < SILENT_S
        beat.phase = _followed(beat.phase if is_known else None, arrived)
        beat.last, beat.heard = arrived, True

    def left(self, session_id: str) -> None:
        """Idempotent, also for a session that was never welcomed."""
        self.beats.pop(session_id, None)


def _followed(phase: float | None, seen: float) -> float:
    """The phase, moved towards what was seen on the shorter way round; None: nothing was known."""
    if phase is None:
        return seen % FRAME_S
    apart = (seen - phase + FRAME_S / 2) % FRAME_S - FRAME_S / 2
    return (phase + FOLLOW * apart) % FRAME_S
