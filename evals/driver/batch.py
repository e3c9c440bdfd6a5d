"""Many conversations, some at once: each is had, kept and counted, whatever becomes of the others.

What is there and whole is not done again; what failed is. Refuses to know the command line.
"""

from __future__ import annotations

import asyncio
import datetime
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duet_client.errors import CommandError, DuetError, Stalled
from duet_client.session import connect
from evals.driver import folder
from evals.driver.clocks import Lockstep, RealTime
from evals.driver.converse import Record, converse
from evals.driver.cues import CueEngine
from evals.driver.ledger import STALLED, Ledger
from evals.driver.playout import Playout
from evals.driver.settings import Plan
from evals.driver.summary import Outcome, lateness, summary


@dataclass(slots=True)
class Batch:
    """server: base address. on_progress: told (id, seconds that are over) as conversations go on."""

    server: str
    out: Path
    ledger: Ledger
    on_progress: Callable[[str, float], None] = lambda _id, _seconds: None

    async def run(self, plans: list[Plan], at_once: int) -> dict[str, Any]:
        """Have every conversation that is not there yet; returns what run.json says.

        Raises:
            CommandError: something cannot be written.
        """
        waiting: deque[Plan] = deque()
        for plan in plans:
            session = folder.kept(self.out, plan)
            self.ledger.planned(plan, session)
            if session is None or session["status"] == folder.FAILED:
                waiting.append(plan)
            else:
                self.on_progress(plan.id, plan.nominal_s)
        self.ledger.write()
        await asyncio.gather(*(self._work(waiting) for _ in range(at_once)))
        return self.ledger.write()

    async def _work(self, waiting: deque[Plan]) -> None:
        while waiting:
            plan = waiting.popleft()
            self.ledger.planned(plan, await self._have(plan))
            self.ledger.write()
            self.on_progress(plan.id, plan.nominal_s)

    async def _have(self, plan: Plan) -> dict[str, Any]:
        """One attempt, kept in its folder; returns its session.json."""
        record = Record(
            CueEngine(plan.scenario, plan.settings.timing),
            Playout(plan.settings.playout_lead_s),
            on_frame=lambda seconds: self.on_progress(plan.id, seconds),
        )
        clock = RealTime() if plan.settings.pace == "realtime" else Lockstep()
        began = datetime.datetime.now(datetime.UTC)
        status, error = await self._converse(plan, record, clock)
        live = None
        if plan.settings.pace == "realtime":
            facts = {"session_id": record.session.get("id"), "started_at": began.isoformat()}
            live = facts | lateness(clock.late_s)
        target = folder.place(self.out, plan)
        before = folder.kept(self.out, plan)
        failures = (*before["failures"], before["error"]) if before else ()
        session = summary(plan, record, Outcome(status, error, failures, live))
        try:
            folder.write(target, session, record.arrivals, (record.user, record.agent))
        except OSError as problem:
            raise CommandError(f"cannot write {target}: {problem}") from None
        return session

    async def _converse(
        self, plan: Plan, record: Record, clock: RealTime | Lockstep
    ) -> tuple[str, str | None]:
        """Its status, and why it is no better."""
        try:
            async with connect(self.server, sampling=plan.sampling) as session:
                clock.start()
                await converse(session, record, clock, plan.settings.stall_s)
        except Stalled as stalled:
            return folder.FAILED, f"{STALLED}{stalled}"
        except DuetError as failure:
            return folder.FAILED, str(failure)
        stopped = record.engine.stopped
        return folder.TIMED_OUT if stopped else folder.COMPLETED, stopped
