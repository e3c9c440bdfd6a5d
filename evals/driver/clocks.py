"""The two clocks a conversation may run on: the wall's, or its own input. See `converse.Clock`."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from audio.frames import FRAME_MS, FRAME_SAMPLES

_FRAME_S = FRAME_MS / 1000


@dataclass(slots=True)
class RealTime:
    """Frames leave on an absolute schedule. late_s: how long after its time each one could leave."""

    late_s: list[float] = field(default_factory=list)
    _start: float = 0.0

    def start(self) -> None:
        self._start = time.monotonic()

    def now(self) -> float:
        return time.monotonic() - self._start

    def arrived(self, samples: int) -> float:  # noqa: ARG002  nothing waits for it
        return self.now()

    async def frame_over(self, frame: int) -> None:
        due = (frame + 1) * _FRAME_S
        await asyncio.sleep(max(0.0, due - self.now()))
        self.late_s.append(self.now() - due)


@dataclass(slots=True)
class Lockstep:
    """The input is the clock: frame n is over once every frame before it was answered in full.

    An answer is stamped with the moment at which its frame left, as if the server took no time: so equal
    answers are heard at equal times, whatever the machine.
    """

    late_s: tuple[float, ...] = ()
    _heard: int = 0
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    def start(self) -> None:
        """Nothing to do: it starts with the first answer."""

    def now(self) -> float:
        """When the frame left whose answer came in last."""
        return -(-self._heard // FRAME_SAMPLES) * _FRAME_S

    def arrived(self, samples: int) -> float:
        self._heard = samples
        self._more.set()
        return self.now()

    async def frame_over(self, frame: int) -> None:
        while self._heard < frame * FRAME_SAMPLES:
            self._more.clear()
            await self._more.wait()
