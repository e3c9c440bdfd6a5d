"""One line on a terminal that says how far a recording is; silent where there is no terminal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TextIO

_EVERY_S = 0.2
_WIDTH = 24


def line(done_s: float, total_s: float, elapsed_s: float) -> str:
    """Bar, audio time, rate against real time, and when it will end."""
    share = min(1.0, done_s / total_s) if total_s > 0 else 1.0
    bar = "#" * int(share * _WIDTH)
    rate = done_s / elapsed_s if elapsed_s > 0 else 0.0
    left = f"{clock((total_s - done_s) / rate)} left" if rate > 0 else "starting"
    return f"[{bar:<{_WIDTH}}] {clock(done_s)} of {clock(total_s)}  {rate:.2f}x real time  {left}"


def clock(seconds: float) -> str:
    """1:02:03, or 2:03 below an hour."""
    whole = max(0, round(seconds))
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


@dataclass(slots=True)
class Progress:
    """Redraws the line at most five times a second; `now` comes from the caller."""

    out: TextIO
    total_s: float
    started: float
    _drawn: float = field(default=float("-inf"))

    def at(self, done_s: float, now: float) -> None:
        if now - self._drawn >= _EVERY_S and self.out.isatty():
            self._drawn = now
            self.out.write("\r" + line(done_s, self.total_s, now - self.started) + "\x1b[K")
            self.out.flush()

    def finish(self) -> None:
        """Clear the line for what is said next."""
        if self._drawn > float("-inf"):
            self.out.write("\r\x1b[K")
            self.out.flush()
