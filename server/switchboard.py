"""Between the engine's thread and the event loop: places taken and given back, answers handed out.

A step's results cross over in one call, however many sessions it had. What may be on its way is
bounded by what the sessions handed in, at most INBOX_FRAMES each. An answer whose session has left is
nobody's, even when its slot has a new owner: tickets never come twice. Refuses to know sockets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from audio.frames import Samples
from model.config import Sampling
from model.engine import Engine, FrameResult, StepReport, Ticket
from server.metrics import Metrics

Listener = Callable[[FrameResult], None]


class Switchboard:
    """Make it first, hand `on_step` to the engine, then `connect` it inside the event loop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._engine: Engine | None = None
        self._metrics: Metrics | None = None
        self._listeners: dict[Ticket, Listener] = {}

    def connect(self, engine: Engine, metrics: Metrics) -> None:
        """Call this on the event loop that is to get the answers."""
        self._loop = asyncio.get_running_loop()
        self._engine, self._metrics = engine, metrics

    def disconnect(self) -> None:
        """What the engine still answers goes nowhere."""
        self._loop = None
        self._listeners.clear()

    def on_step(self, report: StepReport) -> None:
        """Called on the engine's thread, once a step; never blocks."""
        loop = self._loop
        if loop is not None:
            loop.call_soon_threadsafe(self._hand_out, report)

    def join(self, sampling: Sampling, listener: Listener) -> Ticket:
        """Takes a slot whose answers go to `listener`. Raises EngineFull, ModelError."""
        ticket = self.engine.join(sampling)
        self._listeners[ticket] = listener
        return ticket

    def submit(self, ticket: Ticket, frame: Samples, arrived: float) -> None:
        self.engine.submit(ticket, frame, arrived)

    def leave(self, ticket: Ticket) -> None:
        """Frees the slot at once; idempotent."""
        self._listeners.pop(ticket, None)
        self.engine.leave(ticket)

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            raise RuntimeError("the switchboard is not connected")
        return self._engine

    def _hand_out(self, report: StepReport) -> None:
        if self._metrics is not None:
            self._metrics.step(report)
        for result in report.results:
            listener = self._listeners.get(result.ticket)
            if listener is not None:
                listener(result)
