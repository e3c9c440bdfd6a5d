"""What a run may be told: one frozen dataclass with every default. Refuses to know the command line."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from duet_client.wire import DuetOptions
from evals.driver.cues import Timing
from evals.driver.playout import LEAD_S
from evals.scenario import Scenario

Pace = Literal["realtime", "lockstep"]
LATE_MAX_MS = 20.0
"""A driver whose frames leave later than this (p99) disturbs what it measures."""

RANGES = {
    "takes": (1, 1000), "at_once": (1, 1000), "seed": (0, 2**63 - 1), "stall_s": (1, 3600),
    "playout_lead_s": (0, 2), "lead_in_s": (0, 60), "tail_s": (0, 120), "greeting_wait_s": (0, 60),
    "agent_threshold_dbfs": (-90, 0),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunSettings:
    """takes: conversations per scenario; take k (from 1) has the seed `seed + k - 1`.

    at_once: conversations at the same time. stall_s: a server that is silent for so long has failed.
    playout_lead_s: of the modelled jitter buffer. sampling: its own seed is not used.

    Raises:
        ValueError: a value out of range; it names the setting and the allowed values.
    """

    pace: Pace = "realtime"
    takes: int = 1
    at_once: int = 1
    seed: int = 0
    stall_s: float = 30.0
    playout_lead_s: float = LEAD_S
    timing: Timing = Timing()
    sampling: DuetOptions = field(default_factory=DuetOptions)

    def __post_init__(self) -> None:
        values = asdict(self) | asdict(self.timing)
        for name, (low, high) in RANGES.items():
            value = values[name]
            if value is not None and not (math.isfinite(value) and low <= value <= high):
                raise ValueError(f"{name} must be from {low:g} to {high:g}, not {value:g}")

    def to_json(self) -> dict[str, Any]:
        """All that changes what a conversation is; how many run at once does not."""
        settings = asdict(self)
        del settings["at_once"], settings["takes"], settings["sampling"]["seed"]
        return settings


@dataclass(frozen=True, slots=True)
class Plan:
    """One conversation to have. fingerprint: of everything that it depends on but the server."""

    scenario: Scenario
    take: int
    settings: RunSettings

    @property
    def id(self) -> str:
        return f"{self.scenario.name}-{self.take:02d}"

    @property
    def sampling(self) -> DuetOptions:
        return replace(self.settings.sampling, seed=self.settings.seed + self.take - 1)

    @property
    def fingerprint(self) -> str:
        parts = [self.scenario.sha256, self.take, self.settings.to_json()]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @property
    def nominal_s(self) -> float:
        """About how long it takes if every cue comes when it can: for a progress bar."""
        timing, scenario = self.settings.timing, self.scenario
        lead_in = scenario.lead_in_s if timing.lead_in_s is None else timing.lead_in_s
        tail = scenario.tail_s if timing.tail_s is None else timing.tail_s
        ends: dict[str, float] = {}
        for say in scenario.says:
            start = ends.get(say.after or "", 0.0) + (say.at_s or 0.0) + say.for_s + say.delay_s
            ends[say.id] = start + len(say.clip.pcm) / 24_000
        return lead_in + max(ends.values()) + tail


def plan(scenarios: list[Scenario], settings: RunSettings) -> list[Plan]:
    """Every take of every scenario, a whole take of all of them before the next."""
    takes = range(1, settings.takes + 1)
    return [Plan(scenario, take, settings) for take in takes for scenario in scenarios]
