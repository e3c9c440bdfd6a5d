"""Distance of the agent's floor-transfer offsets to a sample of human ones.

No human sample comes with the project (the corpora may not be redistributed): the caller brings one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evals.metrics.build import level
from evals.results import Metric, find
from evals.stats import wasserstein1
from evals.thresholds import Thresholds


def distance(
    metrics: tuple[Metric, ...], human_s: Sequence[float] | None, thresholds: Thresholds
) -> tuple[Metric, ...]:
    """`w1_human` in seconds, for each scoring there is; None with too few offsets on either side."""
    if human_s is None:
        return ()
    offsets = find(metrics, "fto_user_to_agent")
    seen = offsets.observations if offsets else ()
    enough = min(len(seen), len(human_s)) >= thresholds.human_events_min
    rule = f"Wasserstein-1 between user-to-agent offsets and {len(human_s)} human ones"
    made = level("w1_human", wasserstein1(seen, human_s) if enough else None, "s", rule, "inferred")
    return (replace(made, n=len(seen)),)
