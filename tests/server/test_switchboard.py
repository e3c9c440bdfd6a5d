"""Between the engine's thread and the event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from audio.frames import silence
from model.config import Sampling
from model.engine import EngineFull, FrameResult, StepReport
from server.metrics import Metrics
from server.switchboard import Switchboard
from tests.server.echo_engine import EchoRuntime, echo_engine
from tests.server.serving import WAIT_S


class Bench:
    """A switchboard between a running engine and this loop."""

    def __init__(self, capacity: int) -> None:
        self.board = Switchboard()
        self.runtime = EchoRuntime(capacity)
        self.metrics = Metrics(capacity)
        self.engine = echo_engine(self.runtime, self.board.on_step)
        self.results: asyncio.Queue[FrameResult] = asyncio.Queue()
        self.threads: set[int] = set()

    async def __aenter__(self) -> Bench:
        self.engine.start()
        self.board.connect(self.engine, self.metrics)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.engine.stop()

    def listen(self, result: FrameResult) -> None:
        self.threads.add(threading.get_ident())
        self.results.put_nowait(result)

    async def next(self) -> FrameResult:
        async with asyncio.timeout(WAIT_S):
            return await self.results.get()


def test_answers_come_to_their_session_on_the_loops_thread() -> None:
    async def scene() -> None:
        async with Bench(2) as bench:
            tickets = [bench.board.join(Sampling(), bench.listen) for _ in range(2)]
            for ticket in tickets:
                bench.board.submit(ticket, silence(), 1.5)
            results = [await bench.next() for _ in tickets]
            assert {result.ticket for result in results} == set(tickets)
            assert {result.arrived for result in results} == {1.5}
            assert bench.threads == {threading.get_ident()}

    asyncio.run(scene())


def test_an_answer_for_a_session_that_left_is_nobodys_though_its_slot_has_a_new_owner() -> None:
    async def scene() -> None:
        async with Bench(1) as bench:
            bench.runtime.gate.clear()
            gone: list[FrameResult] = []
            first = bench.board.join(Sampling(), gone.append)
            bench.board.submit(first, silence(), 1.0)
            bench.board.leave(first)
            second = bench.board.join(Sampling(), bench.listen)
            bench.board.submit(second, silence(), 2.0)
            bench.runtime.gate.set()
            result = await bench.next()
            assert (result.ticket, result.frame, result.arrived) == (second, 0, 2.0)
            assert gone == []

    asyncio.run(scene())


def test_a_step_crosses_over_in_one_call_however_many_sessions_it_had() -> None:
    crossings: list[int] = []

    class Counted(Switchboard):
        def _hand_out(self, report: StepReport) -> None:
            crossings.append(len(report.results))
            super()._hand_out(report)

    async def scene() -> None:
        bench = Bench(8)
        bench.board = Counted()
        bench.engine = echo_engine(bench.runtime, bench.board.on_step)
        async with bench:
            tickets = [bench.board.join(Sampling(), bench.listen) for _ in range(8)]
            bench.runtime.gate.clear()
            bench.board.submit(tickets[0], silence(), 0.0)  # the engine is busy while the others come
            for ticket in tickets:
                bench.board.submit(ticket, silence(), 0.0)
            bench.runtime.gate.set()
            for _ in range(9):
                await bench.next()

    asyncio.run(scene())
    assert sum(crossings) == 9
    assert 2 <= len([size for size in crossings if size]) <= 3


def test_a_full_engine_says_so_and_a_left_slot_can_be_taken_at_once() -> None:
    async def scene() -> None:
        async with Bench(1) as bench:
            ticket = bench.board.join(Sampling(), bench.listen)
            with pytest.raises(EngineFull):
                bench.board.join(Sampling(), bench.listen)
            bench.board.leave(ticket)
            bench.board.leave(ticket)
            bench.board.join(Sampling(), bench.listen)

    asyncio.run(scene())


def test_after_the_loop_has_let_go_the_engine_goes_on_unharmed() -> None:
    async def scene() -> None:
        async with Bench(1) as bench:
            ticket = bench.board.join(Sampling(), bench.listen)
            bench.board.disconnect()
            bench.board.submit(ticket, silence(), 0.0)
            bench.engine.stop()
            assert bench.engine.failure is None

    asyncio.run(scene())
