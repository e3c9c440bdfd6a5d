"""A thread that does what it is handed, one after the other, and never dies of it.

Refuses to know what it does.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

Job = Callable[[], object]

log = logging.getLogger("duet.worker")


class Worker:
    """most: so many jobs may wait. The thread comes with the first one and keeps no process alive.

    done: how many jobs are, failed ones too.
    """

    def __init__(self, name: str, most: int) -> None:
        self.done = 0
        self._most = most
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def hand(self, job: Job) -> bool:
        """Never waits. False, and the job is not done, where too many wait already or it was closed."""
        with self._changed:
            if self._closed or len(self._jobs) >= self._most:
                return False
            self._jobs.append(job)
            self._changed.notify()
            if self._thread.ident is None:
                self._thread.start()
        return True

    def close(self, timeout_s: float) -> bool:
        """Takes no more and does what it has; False where that is not done in time."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while job := self._next():
            try:
                job()
            except Exception:
                log.exception("%s: a job failed", self._thread.name)
            self.done += 1

    def _next(self) -> Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._closed)
            return self._jobs.popleft() if self._jobs else None
