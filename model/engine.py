"""The engine: one thread that owns the model, steps whoever is ready, and hands results back.

It steps as soon as it is free and any session has a frame; there is no tick (a clock at the
frame rate cannot drain: shared study, scheduling). Refuses to know sockets, wires and event loops.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from audio.frames import FRAME_SAMPLES, Samples
from model.config import ModelError, ModelInfo, Sampling
from model.runtime import Runtime, StepOutput
from model.slots import INBOX_FRAMES, Seat, SlotTable, Waiting
from model.step_times import Bound, StepTimes, bound_of, ladder
from model.steps import EngineFull, FrameResult, InboxFull, StepReport, Ticket
from model.text import TextDecoder, Vocabulary

__all__ = [
    "INBOX_FRAMES",
    "Engine",
    "EngineFull",
    "FrameResult",
    "InboxFull",
    "StepReport",
    "Ticket",
]

WARM_STEPS = 4
"""On CUDA the first call is eager, the second captures the graph; then two replays to be sure."""

log = logging.getLogger("duet.engine")


class _OutOfSight:
    """Keeps what there is out of Python's search for garbage while any engine of the process runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._engines = 0

    def enter(self) -> None:
        with self._lock:
            self._engines += 1
            gc.collect()
            gc.freeze()

    def leave(self) -> None:
        with self._lock:
            self._engines -= 1
            if not self._engines:
                gc.unfreeze()


_out_of_sight = _OutOfSight()


class Engine:
    """Many sessions on one runtime. Every method may be called from any thread.

    on_step is called on the engine's thread, once a step, and must not block.
    step_budget_s: longest step that lets everyone be on time; None where nobody waits for the clock.
    """

    def __init__(
        self,
        runtime: Runtime,
        vocabulary: Vocabulary,
        on_step: Callable[[StepReport], None],
        step_budget_s: float | None = None,
    ) -> None:
        self.info: ModelInfo = runtime.info
        self.capacity = runtime.capacity
        self.bound: Bound | None = None
        """Set by `start`: that fewer sessions than `capacity` keep their deadline, None where all do."""
        self.failure: str | None = None
        self._step_budget_s = step_budget_s
        self._runtime = runtime
        self._vocabulary = vocabulary
        self._on_step = on_step
        self._table = SlotTable(runtime.capacity)
        self._wake = threading.Condition()
        self._stopping = False
        self._hides = False
        self._thread = threading.Thread(target=self._run, name="duet-engine", daemon=True)

    def start(self) -> None:
        """Warms the model up, then starts stepping. Blocks for seconds. Raises ModelError.

        What there is by then is taken out of Python's search for garbage until the last engine stops: it
        is not garbage, there are hundreds of thousands of objects, and looking at all of them holds every
        thread up for longer than a frame (docs/measurements, 2026-11-30-compact.md).
        """
        self._warm_up()
        self._thread.start()
        _out_of_sight.enter()
        self._hides = True

    def stop(self) -> None:
        """Ends the thread after the step in hand; frames still waiting get no answer."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join()
        if self._hides:
            self._hides = False
            _out_of_sight.leave()

    def join(self, sampling: Sampling) -> Ticket:
        """Takes a slot. Raises EngineFull; ModelError once the engine has failed."""
        with self._wake:
            if self.failure is not None:  # asked in here, so that nobody slips in after the last report
                raise ModelError(self.failure)
            ticket = self._table.acquire(sampling, TextDecoder(self._vocabulary))
            self._wake.notify()
            return ticket

    def submit(self, ticket: Ticket, frame: Samples, arrived: float) -> None:
        """Hands in a session's next frame, float32 [1920]; `arrived` is monotonic seconds.

        Raises InboxFull past INBOX_FRAMES waiting; ValueError for a wrong shape or a value
        that is not finite. A stale ticket is ignored: its session has left.
        """
        if frame.shape != (FRAME_SAMPLES,):
            raise ValueError(f"a frame is float32 [{FRAME_SAMPLES}], not {frame.shape}")
        if not np.isfinite(frame).all():
            raise ValueError("a frame holds a value that is not finite")
        with self._wake:
            self._table.put(ticket, Waiting(frame, arrived))
            self._wake.notify()

    def leave(self, ticket: Ticket) -> None:
        """Frees the slot; frames still waiting are dropped, a result in the making too."""
        with self._wake:
            self._table.release(ticket)

    def depth(self, ticket: Ticket) -> int:
        """Frames waiting."""
        with self._wake:
            seat = self._table.find(ticket)
            return len(seat.inbox) if seat else 0

    def _warm_up(self) -> None:
        """Steps every size of batch and every row through every stage: nobody's first frame pays for it."""
        slots = range(self.capacity)
        silence = np.zeros((self.capacity, FRAME_SAMPLES), np.float32)
        try:
            self._runtime.prepare()
            self._measure()
            for slot in slots:
                self._runtime.join(slot, self.info.sampling)
            for _ in range(WARM_STEPS + self.info.lag_frames):
                output = self._runtime.step(slots, silence)
        except Exception as error:
            raise ModelError(f"the model failed its warm-up: {error}") from error
        if not output.finite.all():
            raise ModelError("the model failed its warm-up: it produced values that are not finite")

    def _measure(self) -> None:
        """Times steps of full contexts."""
        if self._step_budget_s is None:
            return
        times = StepTimes(tuple(self._points(self._step_budget_s)))
        log.info("a step takes %s sessions whose contexts are full", times.told())
        self.bound = bound_of(times, self._step_budget_s)
        if self.bound is not None:
            log.warning("only %d sessions at once: %s", self.bound.sessions, self.bound.reason)

    def _points(self, budget_s: float) -> Iterator[tuple[int, float]]:
        """Rows and their step's seconds, up to the first that takes far too long."""
        for rows in ladder(self.capacity):
            seconds = self._runtime.measure(rows)
            yield rows, seconds
            if seconds > 2 * budget_s:
                return

    def _run(self) -> None:
        while self.failure is None:
            if not self._round():
                return
        self._end_everyone()

    def _round(self) -> bool:
        """One collect, step, hand out. False once stopped."""
        with self._wake:
            idle = not self._table.has_work()
            self._wake.wait_for(lambda: self._stopping or self._table.has_work())
            if idle:
                self._gather()
            if self._stopping:
                return False
            newcomers = self._table.newcomers()
        began = time.monotonic()
        self._take_in(newcomers)
        join_s = time.monotonic() - began
        if self.failure is None:
            with self._wake:
                batch = self._table.take(self.capacity)
            self._report(self._step(batch, len(newcomers), join_s))
        return True

    def _gather(self) -> None:
        """Lets a frame that found the engine idle wait a little for those that are due with it."""
        while not self._stopping and not self._table.newcomers():
            left = self._table.gather_until(now := time.monotonic()) - now
            if left <= 0:
                return
            self._wake.wait(left)

    def _report(self, report: StepReport) -> None:
        try:
            self._on_step(report)
        except Exception:
            log.exception("a step's results could not be handed over")

    def _take_in(self, newcomers: list[Seat]) -> None:
        for seat in newcomers:
            if not self._freshen(seat):
                return
            seat.joined = True

    def _freshen(self, seat: Seat) -> bool:
        """A row that cannot be made fresh means a runtime that nobody can trust any more."""
        try:
            self._runtime.join(seat.ticket.slot, seat.sampling)
        except Exception:
            log.exception("slot %d could not be made fresh", seat.ticket.slot)
            self.failure = "the model broke down and takes no more sessions"
            return False
        return True

    def _step(self, batch: list[tuple[Seat, Waiting]], joined: int, join_s: float) -> StepReport:
        """Steps the batch; an empty one (sessions joined, nobody spoke yet) only reports the joins."""
        started = time.monotonic()
        slots = [seat.ticket.slot for seat, _ in batch]
        if not batch:
            return StepReport((), started, started, 0.0, 0.0, 0.0, 0.0, joined, join_s)
        try:
            output = self._runtime.step(slots, np.stack([waiting.samples for _, waiting in batch]))
        except Exception:
            log.exception("a step failed; its %d sessions end", len(batch))
            return self._failed(batch, started)
        results = tuple(self._answer(*row, output, i) for i, row in enumerate(batch))
        finished = time.monotonic()
        model_s = output.encode_s + output.lm_s + output.decode_s
        return StepReport(
            self._still_here(results),
            started,
            finished,
            output.encode_s,
            output.lm_s,
            output.decode_s,
            finished - started - model_s,
            joined,
            join_s,
        )

    def _answer(self, seat: Seat, waiting: Waiting, output: StepOutput, row: int) -> FrameResult:
        """Moves one row of the step's output to its session."""
        if not output.finite[row]:
            return self._error(seat, waiting.arrived, "model_error: the model's output is not finite")
        frame, seat.answered = seat.answered, seat.answered + 1
        token = int(output.tokens[row, 0])
        text = seat.text.push(token) if token >= 0 else ""
        return FrameResult(seat.ticket, frame, output.pcm[row], text, token, waiting.arrived)

    def _failed(self, batch: list[tuple[Seat, Waiting]], started: float) -> StepReport:
        """Ends the sessions of a failed step: their rows may hold half of it. The others' do not."""
        results = [self._error(s, w.arrived, "model_error: the step failed") for s, w in batch]
        for seat, _ in batch:
            if not self._freshen(seat):
                break
        finished = time.monotonic()
        host_s = finished - started
        return StepReport(self._still_here(results), started, finished, 0.0, 0.0, 0.0, host_s, 0, 0.0)

    def _end_everyone(self) -> None:
        """The last report of an engine that failed: an error for every session there is."""
        now = time.monotonic()
        with self._wake:
            seats = [seat for seat in self._table.seats() if not seat.dead]
        results = tuple(self._error(seat, now, f"model_error: {self.failure}") for seat in seats)
        self._report(StepReport(results, now, now, 0.0, 0.0, 0.0, 0.0, 0, 0.0))

    def _error(self, seat: Seat, arrived: float, message: str) -> FrameResult:
        seat.dead = True
        seat.inbox.clear()
        return FrameResult(seat.ticket, seat.answered, None, "", -1, arrived, message)

    def _still_here(self, results: Iterable[FrameResult]) -> tuple[FrameResult, ...]:
        """Drops what was made for sessions that left meanwhile: their slot may have a new owner."""
        with self._wake:
            return tuple(r for r in results if self._table.find(r.ticket) is not None)
