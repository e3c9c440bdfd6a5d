"""Latency of a load run, from times and byte counts that others observed.

One output frame answers one input frame, so they are matched by cumulative bytes, however messages cut
them. Pure: every time is an argument, in seconds of one monotonic clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

DEADLINE_S = 0.080


@dataclass(slots=True)
class CallLog:
    """What one call sent and got, frame by frame.

    sent_s[n], late_s[n]: when frame n left and how long after it was due. received_s[n]: when the last
    byte of output frame n came in.
    """

    frame_bytes: int
    sent_s: list[float] = field(default_factory=list)
    late_s: list[float] = field(default_factory=list)
    received_s: list[float] = field(default_factory=list)
    _bytes: int = 0

    def sent(self, now: float, due: float) -> None:
        self.sent_s.append(now)
        self.late_s.append(now - due)

    def received(self, n_bytes: int, now: float) -> None:
        self._bytes += n_bytes
        whole = self._bytes // self.frame_bytes
        self.received_s += [now] * (whole - len(self.received_s))

    @property
    def deficit(self) -> int:
        """Frames that were sent and never answered."""
        return max(0, len(self.sent_s) - len(self.received_s))

    @property
    def surplus(self) -> int:
        """Frames that nobody asked for: with any, answers cannot be matched to what was sent."""
        return max(0, len(self.received_s) - len(self.sent_s))


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Milliseconds; `count` values stand behind them, all are 0 where there are none."""

    count: int
    p50: float
    p95: float
    p99: float
    p99_9: float
    max: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Quantiles:
        """Quantiles by the nearest rank: each one is a value that was really observed."""
        if not seconds:
            return cls(0, 0.0, 0.0, 0.0, 0.0, 0.0)
        ordered, n = sorted(seconds), len(seconds)
        ranks = (-(-n * permille // 1000) - 1 for permille in (500, 950, 990, 999, 1000))
        return cls(n, *(round(ordered[rank] * 1000, 3) for rank in ranks))


@dataclass(frozen=True, slots=True)
class Summary:
    """All calls of a run, from `measured_from` on.

    latency_ms: a frame's last byte sent -> its answer's last byte received.
    deadline_misses: answers later than 80 ms.
    deficits, surplus: frames never answered, and answers to nothing, over the whole run.
    """

    frames_sent: int
    frames_received: int
    deficits: int
    surplus: int
    deadline_misses: int
    latency_ms: Quantiles
    send_late_ms: Quantiles


def summarise(logs: Sequence[CallLog], measured_from: float) -> Summary:
    """Frames that were sent before `measured_from` count for deficits and for nothing else."""
    latency: list[float] = []
    late: list[float] = []
    for log in logs:
        counted = [n for n, sent in enumerate(log.sent_s) if sent >= measured_from]
        late += [log.late_s[n] for n in counted]
        answered = len(log.received_s)
        latency += [log.received_s[n] - log.sent_s[n] for n in counted if n < answered]
    return Summary(
        frames_sent=sum(len(log.sent_s) for log in logs),
        frames_received=sum(len(log.received_s) for log in logs),
        deficits=sum(log.deficit for log in logs),
        surplus=sum(log.surplus for log in logs),
        deadline_misses=sum(value > DEADLINE_S for value in latency),
        latency_ms=Quantiles.of(latency),
        send_late_ms=Quantiles.of(late),
    )
