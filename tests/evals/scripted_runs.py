"""Runs of scenarios against the agent on a script, for the driver's tests."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from evals.driver.batch import Batch
from evals.driver.ledger import Ledger
from evals.driver.settings import Pace, Plan, RunSettings, plan
from tests.evals.scripted_agent import Agent
from tests.evals.staging import scenario

HEAD = 'behaviour = "user_interruption"\nlead_in_s = 0.5\ntail_s = 1.5\n'
QUESTION = '[[say]]\nid = "question"\nclip = "question.wav"\nat_s = 0.0\n'
STOP = '[[say]]\nid = "stop"\nclip = "stop.wav"\nevent = "interruption"\nafter = "question"\n'
AGENT_SPEAKS = 'when = "agent_speaks"\nfor_s = 1.0\n'


def plans(folder: Path, text: str, **settings: Any) -> list[Plan]:
    pace: Pace = settings.pop("pace", "lockstep")
    return plan([scenario(folder, text, question=1.0, stop=0.6)], RunSettings(pace=pace, **settings))


def have(agent: Agent, planned: list[Plan], out: Path, at_once: int = 1) -> dict[str, Any]:
    """Runs the plans against the agent; what run.json says."""

    async def run() -> dict[str, Any]:
        async with agent.running():
            ledger = Ledger(out, planned[0].settings, agent.url, {})
            return await Batch(agent.url, out, ledger).run(planned, at_once)

    return asyncio.run(run())


def session(out: Path, ident: str = "staged-01") -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((out / "staged" / ident / "session.json").read_text())
    return loaded
