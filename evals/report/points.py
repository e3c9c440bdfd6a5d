"""What the plots show of a run, one by one. Refuses to know how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stop:
    """One interruption. ms: onset to the agent's last sound; None: it had not stopped by the limit."""

    group: str
    ms: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """One answered turn: when in the call (minutes), which turn of it (from 1), how late (ms)."""

    minute: float
    round: int
    ms: float
