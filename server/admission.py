"""Who may come in: places counted, and the reason given to whoever is turned away.

A place is taken before the upgrade, so that a refusal is plain HTTP, and given back when the session's
slot is free again. Two bounds, and a refusal says which was hit:

- places: each has memory set aside at the start for keys and values of a whole context, however short
  its call will be (`model.compact.kv.PagePlan`). No session that was let in can run out of it, so nobody
  has to count pages here; in return memory is not shared.
- step_time: steps were measured at the start with every context full, which is where each call ends up.

Pure; refuses to know sockets and sessions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from model.step_times import Bound

RETRY_FULL_S = 5
RETRY_STOPPING_S = 30


@dataclass(frozen=True, slots=True)
class Unavailable:
    """HTTP 503 with a reason; the same shape as `server.auth.Refusal`."""

    reason: str
    message: str
    retry_after_s: int
    details: dict[str, Any] = field(default_factory=dict)
    status: int = 503

    @property
    def body(self) -> dict[str, Any]:
        return {"error": {"type": self.reason, "message": self.message, **self.details}}

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after_s)}


@dataclass(slots=True)
class Admission:
    """capacity: places in all. active: taken ones. draining: the server was told to stop.

    bound: what keeps the model from serving as many in time, None where nothing does.
    """

    capacity: int
    bound: Bound | None = None
    active: int = 0
    draining: bool = False

    def refusal(self, failure: str | None) -> Unavailable | None:
        """Why nobody can be let in now, None while somebody can.

        failure: why the model serves nobody any more, None while it does.
        """
        if unready := self.unreadiness(failure):
            return unready
        if self.active >= self.capacity:
            taken = "the only session is" if self.capacity == 1 else f"all {self.capacity} sessions are"
            message = f"{taken} taken; try again in {RETRY_FULL_S} s"
            counts = {"active": self.active, "capacity": self.capacity}
            return Unavailable("server_full", message, RETRY_FULL_S, counts | {"bound": "places"})
        if self.bound is not None and self.active >= self.bound.sessions:
            message = f"no further session would be on time: {self.bound.reason}"
            counts = {"active": self.active, "capacity": self.bound.sessions}
            return Unavailable("server_full", message, RETRY_FULL_S, counts | {"bound": "step_time"})
        return None

    def unreadiness(self, failure: str | None) -> Unavailable | None:
        """Why nobody will be let in any more, whatever place is free; None while all is well."""
        if failure is not None:
            return Unavailable("model_failed", failure, RETRY_STOPPING_S)
        if self.draining:
            return Unavailable("draining", "the server stops and takes no new sessions", RETRY_STOPPING_S)
        return None

    def take(self) -> None:
        """Takes a place; ask `refusal` first."""
        self.active += 1

    def give_back(self) -> None:
        self.active -= 1
