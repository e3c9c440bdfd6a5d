"""Quantities of the whole recording: dGSLM's four, and shares of time. From the IPUs alone."""

from __future__ import annotations

from evals.intervals import Intervals, total, union
from evals.metrics.build import Measured, per
from evals.results import Metric
from evals.segments import Floor, floor
from evals.thresholds import Thresholds
from evals.turns import Talk


def measure(talk: Talk, thresholds: Thresholds) -> Measured:
    user, agent = talk.user.ipus, talk.agent.ipus
    found = floor(user, agent, talk.duration_s)
    rule = f"dGSLM: IPUs split at {thresholds.ipu_gap_s:g} s"
    four = {"ipu": user + agent, "pause": found.pauses, "gap": found.gaps, "overlap": found.overlaps}
    rows = [metric for name, spans in four.items() for metric in _per_minute(name, spans, talk, rule)]
    return Measured((*rows, *_shares(talk, found)))


def _per_minute(name: str, spans: Intervals, talk: Talk, rule: str) -> tuple[Metric, Metric]:
    minutes = talk.duration_s / 60
    return (
        per(f"{name}_per_min", len(spans), minutes, n=len(spans), unit="per_min", rule=rule),
        per(f"{name}_sec_per_min", total(spans), minutes, n=len(spans), unit="s_per_min", rule=rule),
    )


def _shares(talk: Talk, found: Floor) -> list[Metric]:
    user, agent = talk.user.ipus, talk.agent.ipus
    parts = {
        "talk_ratio_user": user,
        "talk_ratio_agent": agent,
        "overlap_ratio": found.overlaps,
        "silence_ratio": found.pauses + found.gaps + found.edges,
        "talk_ratio": union(user + agent),
    }
    rule = "share of the duration, by IPUs"
    return [
        per(name, total(spans), talk.duration_s, n=len(spans), unit="share", rule=rule)
        for name, spans in parts.items()
    ]
