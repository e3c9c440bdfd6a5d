"""What the sidecar's process does before it becomes the sidecar: it gives way, and dies with its server.

    python server/sidecar_child.py SERVER_PID COMMAND...

A file of its own and not code between fork and exec: a server with gigabytes and threads is not to be copied
in the middle of calls. Standard library only; refuses to know what it starts.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def become(server: int, command: list[str]) -> None:
    """Never returns. server: the process id that this one must not survive. Raises OSError."""
    os.nice(19)
    with suppress(OSError):  # where memory runs out, better this one than the server
        Path("/proc/self/oom_score_adj").write_text("500")
    with suppress(AttributeError):  # Linux only; elsewhere a sidecar ends when its connections do
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != server:  # it died before that
        raise SystemExit(1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    become(int(sys.argv[1]), sys.argv[2:])
