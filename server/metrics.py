"""What the server counts, for Prometheus, told as events: a session started, a frame went out.

Every instance has a registry of its own, so that two servers in one process do not mix. Any thread may
call. Refuses to know sessions, sockets and who calls.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from audio.frames import FRAME_MS
from model.engine import INBOX_FRAMES, StepReport
from server.observation_metrics import ObservationMetrics

CONTENT_TYPE = CONTENT_TYPE_LATEST

FRAME_S = FRAME_MS / 1000

STEP_BUCKETS_S = (0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, FRAME_S, 0.1, 0.12, 0.16, 0.32, 1)
LATENCY_BUCKETS_S = (0.01, 0.02, 0.04, 0.06, FRAME_S, 0.1, 0.12, 0.16, 0.24, 0.4, 0.8, 1.6, 2.4, 5)
JOIN_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.04, FRAME_S, 0.16, 0.4, 1)
INBOX_BUCKETS = (0, 1, 2, 3, 5, 8, 12, 18, INBOX_FRAMES)


class Metrics:
    """The counters of one server. Labels take few, fixed values: reasons and stages, never ids.

    holdback_s: how long answers are held back on purpose; latency contains it, a deadline allows for it.
    """

    def __init__(self, capacity: int, holdback_s: float = 0.0) -> None:
        self._due_s = holdback_s + FRAME_S
        self._registry = mine = CollectorRegistry()
        ProcessCollector(registry=mine)
        self._active = Gauge("duet_sessions_active", "Sessions running now", registry=mine)
        Gauge("duet_sessions_capacity", "Sessions that fit", registry=mine).set(capacity)
        self._refused = Counter("duet_sessions_refused", "Connections turned away", ["reason"], registry=mine)
        self._ended = Counter("duet_sessions_ended", "Sessions that ended", ["reason"], registry=mine)
        self._step = Histogram(
            "duet_step_seconds", "One step of the model", ["stage"], buckets=STEP_BUCKETS_S, registry=mine
        )
        self._latency = Histogram(
            "duet_frame_latency_seconds",
            "From a frame's last input sample to its answer on the way out, --holdback-ms included",
            buckets=LATENCY_BUCKETS_S,
            registry=mine,
        )
        self._misses = Counter(
            "duet_deadline_misses",
            "Frames answered later than one frame's length after --holdback-ms",
            registry=mine,
        )
        self._frames = Counter("duet_frames", "Frames answered", registry=mine)
        self._answered = 0
        self._padded = Counter("duet_frames_padded", "Frames filled up or made of silence", registry=mine)
        self._dropped = Counter("duet_frames_dropped", "Frames thrown away", registry=mine)
        self._inbox = Histogram(
            "duet_inbox_frames", "Frames waiting in a session's inbox", buckets=INBOX_BUCKETS, registry=mine
        )
        self._join = Histogram(
            "duet_join_stall_seconds",
            "What sessions that join cost everyone else's step",
            buckets=JOIN_BUCKETS_S,
            registry=mine,
        )
        self._recording_lost = Counter(
            "duet_recording_frames_lost", "Frames missing from recordings", registry=mine
        )
        self.observation = ObservationMetrics(mine)

    def session_started(self) -> None:
        self._active.inc()

    def session_ended(self, reason: str) -> None:
        self._active.dec()
        self._ended.labels(reason).inc()

    def refused(self, reason: str) -> None:
        self._refused.labels(reason).inc()

    def step(self, report: StepReport) -> None:
        """A step's durations, and the stall of those who joined in it; a round of joins alone is no step."""
        if report.joined:
            self.join_stall(report.join_s)
        if not report.results:
            return
        stages = {
            "encode": report.encode_s,
            "lm": report.lm_s,
            "decode": report.decode_s,
            "host": report.host_s,
            "total": report.finished - report.started,
        }
        for stage, seconds in stages.items():
            self._step.labels(stage).observe(seconds)

    def frame_out(self, latency_s: float) -> None:
        self._answered += 1
        self._frames.inc()
        self._latency.observe(latency_s)
        if latency_s > self._due_s:
            self._misses.inc()

    def padded(self, frames: int = 1) -> None:
        self._padded.inc(frames)

    def dropped(self, frames: int = 1) -> None:
        self._dropped.inc(frames)

    def join_stall(self, seconds: float) -> None:
        self._join.observe(seconds)

    def inbox_depth(self, frames: int) -> None:
        self._inbox.observe(frames)

    def recording_lost(self, frames: int) -> None:
        self._recording_lost.inc(frames)

    @property
    def frames(self) -> int:
        """Frames answered so far."""
        return self._answered

    def render(self) -> bytes:
        """The text that Prometheus scrapes; its content type is `CONTENT_TYPE`."""
        return generate_latest(self._registry)
