"""What a server's log claims against what the recording shows. Refuses to know the log's format."""

from __future__ import annotations

from evals.conversation import LoggedTurn
from evals.events import event
from evals.intervals import Interval
from evals.metrics.build import Measured, distribution
from evals.metrics.responses import Response

SANE_MAX_S = 10.0
_REACH_S = 1.0


def measure(log: tuple[LoggedTurn, ...], found: tuple[Response, ...]) -> Measured:
    """`log_difference` = the log's latency less the recording's, for each turn that is in both."""
    if not log:
        return Measured()
    rule = "server's latency less the recording's"
    differences, events = [], []
    for turn in log:
        near = min(found, key=lambda r: abs(r.turn.end - turn.user_end_s), default=None)
        if near is None or near.latency_s is None or abs(near.turn.end - turn.user_end_s) > _REACH_S:
            continue
        difference = round(turn.latency_s - near.latency_s, 6)
        differences.append(difference)
        span = Interval(near.turn.end, max(near.turn.end, near.turn.end + near.latency_s))
        events.append(
            event(
                "log_difference",
                "agent",
                span,
                value=difference,
                metric="log_difference",
                rule=rule,
                scoring="measured",
            )
        )
    return Measured((distribution("log_difference", differences, rule, "measured"),), tuple(events))


def problem(log: tuple[LoggedTurn, ...]) -> str:
    """Why a log is not to be believed, "" where it may be."""
    bad = [turn for turn in log if not 0 <= turn.latency_s <= SANE_MAX_S]
    if not bad:
        return ""
    return (
        f"the log has a latency of {bad[0].latency_s:g} s, outside 0 to {SANE_MAX_S:g}: the log is left out"
    )
