"""The numbers a session lives by, taken from the server's settings once.

Refuses to know what happens when one is passed (`server.session`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from server.config import ServerConfig


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds, all from `ServerConfig` but the last two, which nobody needs to set.

    answer_timeout_s: a model that owes an answer for this long is taken for dead.
    store_timeout_s: how long the end of a session waits for its recording to be finished.
    """

    pace: Literal["realtime", "free"]
    start_timeout_s: float
    silence_after_s: float
    idle_timeout_s: float
    max_session_s: float
    drain_s: float
    backlog_s: float
    answer_timeout_s: float = 30.0
    store_timeout_s: float = 5.0

    @property
    def drain_cut_s(self) -> float:
        """After a drain began, how long a session that has ended may still be answered."""
        return self.drain_s + self.store_timeout_s

    @classmethod
    def of(cls, config: ServerConfig) -> Limits:
        return cls(
            pace=config.pace,
            start_timeout_s=config.start_timeout_s,
            silence_after_s=config.silence_after_s,
            idle_timeout_s=config.idle_timeout_s,
            max_session_s=config.max_session_s,
            drain_s=config.drain_s,
            backlog_s=config.backlog_s,
        )
