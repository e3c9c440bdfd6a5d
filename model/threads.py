"""How many threads a step is quickest with on this machine: tried, not guessed.

Small operations are slowed down by threads that must meet after each. Refuses to know what a step does.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

import torch

log = logging.getLogger("duet.model")


def candidates(cores: int) -> tuple[int, ...]:
    """Doubling, and all cores but one, which stays for the sockets."""
    most = max(1, cores - 1)
    doubled = [1 << n for n in range(most.bit_length()) if 1 << n < most]
    return (*doubled, most)


def leave_a_core() -> None:
    """Without trying: all cores but one. For commands that time what a server does."""
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(candidates(os.cpu_count() or 1)[-1])


def choose(measure: Callable[[], float]) -> int:
    """Sets torch to the number of threads whose step is quickest and returns it.

    measure: seconds of a step. Whoever set OMP_NUM_THREADS has chosen already.
    """
    if "OMP_NUM_THREADS" in os.environ:
        return torch.get_num_threads()
    seconds: dict[int, float] = {}
    tried = candidates(os.cpu_count() or 1)
    if len(tried) == 1:
        torch.set_num_threads(tried[0])
        return tried[0]
    for threads in tried:
        torch.set_num_threads(threads)
        seconds[threads] = measure()
    best = min(seconds, key=lambda threads: seconds[threads])
    torch.set_num_threads(best)
    log.info("a step is quickest with %d of %d threads", best, max(seconds))
    return best
