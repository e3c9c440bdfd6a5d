"""When a sidecar that runs counts as hung, and how long to wait before it is started again.

Pure: `now` is an argument. Refuses to know processes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """In seconds.

    hung: calls went on for so long and it gave no sign. loading: the same before its first sign, since
    a large model comes slowly off a disk. check: between two looks. shortest, longest: the wait before a
    restart, which doubles each time. healthy: who ran for so long starts anew with the shortest.
    stop: from being asked to end to being killed.
    """

    hung: float = 30
    loading: float = 120
    check: float = 1
    shortest: float = 1
    longest: float = 60
    healthy: float = 60
    stop: float = 5


PATIENCE = Patience()


class Watch:
    """One run of the sidecar. signs: how often one was given. frames: answered so far, of all calls.

    Only time in which frames were answered counts: where nobody calls, there is nothing to say.
    """

    def __init__(self, patience: Patience, now: float, signs: int, frames: int) -> None:
        self._patience = patience
        self._looked, self._signs, self._frames = now, signs, frames
        self._silent = 0.0
        self._loading = True

    def is_hung(self, now: float, signs: int, frames: int) -> bool:
        if signs != self._signs:
            self._silent, self._loading = 0.0, False
        elif frames != self._frames:
            # a machine that slept, or a server that stood still, is not the sidecar's fault
            self._silent += min(now - self._looked, 2 * self._patience.check)
        self._looked, self._signs, self._frames = now, signs, frames
        return self._silent >= (self._patience.loading if self._loading else self._patience.hung)


class Backoff:
    """The waits between runs."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._next = patience.shortest

    def after(self, ran: float) -> float:
        """The wait after a run of so many seconds."""
        if ran >= self._patience.healthy:
            self._next = self._patience.shortest
        wait = self._next
        self._next = min(2 * wait, self._patience.longest)
        return wait
