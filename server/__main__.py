"""`python -m server` and `duet`: the way into `server.main`, quiet when Ctrl-C comes while that is imported.

Refuses to know what is run.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

INTERRUPTED = 128 + signal.SIGINT


def duet(arguments: Sequence[str] | None = None) -> None:
    """The console script. arguments: without the program's name."""
    try:
        from server.main import main  # takes a second

        main(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


if __name__ == "__main__":
    duet(["serve", *sys.argv[1:]])
