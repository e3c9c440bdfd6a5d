"""The thread that hears: takes frames in, chooses windows, has them heard, hands out what is to be sent.

It alone touches the calls and the model, so that sockets are read while Whisper works.
Refuses to know sockets: what it says goes to a callback, on this thread.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from duet_client import Frame
from duet_client.wire import LagMode, SidebandCommand
from transcribe_sidecar.call import Call, Progress
from transcribe_sidecar.filters import Pass, believed
from transcribe_sidecar.pace import Pacer
from transcribe_sidecar.schedule import Waiting, chosen, longest_s
from transcribe_sidecar.timeline import Window

INTAKE_FRAMES = 125
"""Frames of a call, 10 s, that may wait to be taken in; whoever reads the socket then waits, too."""
_TURN_FRAMES = 50
_IDLE_S = 0.5


class Hearer(Protocol):
    """What hears windows: Whisper. most: windows that are heard well together."""

    most: int

    def hear(self, windows: Sequence[Window]) -> list[Pass]: ...


@dataclass(frozen=True, slots=True)
class Report:
    """What a call has to send, where it stands, and whether more frames may be put."""

    messages: tuple[SidebandCommand, ...]
    progress: Progress
    mode: LagMode
    room: bool


@dataclass(slots=True)
class Seat:
    """A call in the engine. intake: frames in order, None for the end of the call."""

    name: str
    call: Call
    report: Callable[[Report], None]
    intake: deque[Frame | None] = field(default_factory=deque)
    told: Progress | None = None

    @property
    def room(self) -> bool:
        return len(self.intake) < INTAKE_FRAMES


class Engine:
    """Give it calls and frames from any thread; `turn` is one step of its own."""

    def __init__(self, hearer: Hearer, clock: Callable[[], float] = time.monotonic) -> None:
        self._hearer = hearer
        self._clock = clock
        self._pacer = Pacer()
        self._seats: dict[str, Seat] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stopped = False

    def open(self, name: str, call: Call, report: Callable[[Report], None]) -> Seat:
        """A call to listen to, in place of one with the same name."""
        seat = Seat(name, call, report)
        with self._lock:
            self._seats[name] = seat
        return seat

    def put(self, seat: Seat, frame: Frame | None) -> None:
        """The next frame, or None for the end; the caller heeds `Seat.room`."""
        seat.intake.append(frame)
        self._wake.set()

    def drop(self, seat: Seat) -> None:
        """Nobody wants to hear of that call any more."""
        with self._lock:
            if self._seats.get(seat.name) is seat:
                del self._seats[seat.name]

    def stop(self) -> None:
        self._stopped = True
        self._wake.set()

    def run(self) -> None:
        while not self._stopped:
            self._wake.clear()
            if not self.turn():
                self._wake.wait(_IDLE_S)

    def turn(self) -> bool:
        """Take in, settle, hear one batch; False where there was nothing to do."""
        with self._lock:
            seats = list(self._seats.values())
        taken = [self._take_in(seat) for seat in seats]
        now = self._clock()
        pace = self._pacer.pace
        waiting = [
            Waiting(seat.name, channel, since, seat.call.final)
            for seat in seats
            for channel, since in seat.call.due(pace)
        ]
        self._pacer.waited(longest_s(waiting, now), now)
        self._hear({seat.name: seat for seat in seats}, chosen(waiting, now, self._hearer.most))
        return bool(waiting) or any(taken)

    def _take_in(self, seat: Seat) -> bool:
        """Some frames of a call: not all at once, because a replay has many and others wait."""
        count = 0
        while seat.intake and count < _TURN_FRAMES and not seat.call.full:
            frame, now = seat.intake[0], self._clock()
            if frame is None:
                seat.call.end(now)
            else:
                seat.call.frame(frame.index, {"user": frame.user, "agent": frame.agent}, now)
            seat.intake.popleft()
            count += 1
        self._report(seat, seat.call.settle())
        return count > 0

    def _hear(self, seats: dict[str, Seat], picked: list[Waiting]) -> None:
        if not picked:
            return
        windows = [seats[each.call].call.take(each.channel) for each in picked]
        for each, window, heard in zip(picked, windows, self._hearer.hear(windows), strict=True):
            seat = seats[each.call]
            self._report(seat, seat.call.hear(window, believed(heard, window)))

    def _report(self, seat: Seat, messages: list[SidebandCommand]) -> None:
        progress = seat.call.progress
        if messages or progress != seat.told:
            seat.told = progress
            seat.report(Report(tuple(messages), progress, self._pacer.pace.mode, seat.room))
