"""What is counted about those who watch calls: observers, transcripts, the sidecar, guardrails.

Refuses to know sessions, sockets and who calls. `server.metrics` holds the rest.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

LAG_BUCKETS_S = (0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10, 15, 20, 30, 60, 120, 300)
"""Words of a live call come after 1 s to 3 s; a sidecar that cannot keep up is minutes behind."""


class ObservationMetrics:
    """Labels take few, fixed values: channels, modes, and rules by the names their file gives them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._observers = Gauge("duet_observers", "Observers attached to sessions", registry=registry)
        self._gaps = Counter(
            "duet_observer_gaps", "Times that an observer was too slow and missed frames", registry=registry
        )
        self._missed = Counter(
            "duet_observer_frames_missed", "Frames that observers were too slow for", registry=registry
        )
        self._lag = Histogram(
            "transcript_lag_seconds",
            "How far a transcript was behind its call, told by the sidecar each second",
            ["channel"],
            buckets=LAG_BUCKETS_S,
            registry=registry,
        )
        self._words = Counter("duet_transcript_words", "Words committed", ["channel"], registry=registry)
        self._repeated = Counter(
            "duet_transcript_words_repeated", "Words that were told before and dropped", registry=registry
        )
        self._lost = Counter(
            "duet_transcript_lines_lost", "Lines missing from transcripts on disk", registry=registry
        )
        self._disagreements = Counter(
            "duet_transcript_disagreements",
            "Times that an agent's own text and what was heard of it began to differ",
            registry=registry,
        )
        self._up = Gauge("duet_sidecar_up", "Whether the managed sidecar runs", registry=registry)
        self._restarts = Counter(
            "duet_sidecar_restarts", "Restarts of the managed sidecar", registry=registry
        )
        self._hits = Counter("duet_guardrail_hits", "Rules that fired", ["rule", "action"], registry=registry)
        self._webhooks = Counter("duet_webhooks", "Webhooks by outcome", ["outcome"], registry=registry)

    def observer_came(self) -> None:
        self._observers.inc()

    def observer_left(self) -> None:
        self._observers.dec()

    def observer_missed(self, frames: int) -> None:
        """One gap of so many frames."""
        self._gaps.inc()
        self._missed.inc(frames)

    def lag(self, channel: str, seconds: float) -> None:
        self._lag.labels(channel).observe(seconds)

    def words(self, channel: str, words: int, repeated: int) -> None:
        self._words.labels(channel).inc(words)
        self._repeated.inc(repeated)

    def lines_lost(self, lines: int) -> None:
        self._lost.inc(lines)

    def disagreed(self) -> None:
        self._disagreements.inc()

    def sidecar_up(self, up: bool) -> None:
        self._up.set(up)

    def sidecar_restarted(self) -> None:
        self._restarts.inc()

    def guardrail_hit(self, rule: str, action: str) -> None:
        self._hits.labels(rule, action).inc()

    def webhook(self, outcome: str) -> None:
        """outcome: sent; failed, after every try; dropped, since too many waited or the server stopped."""
        self._webhooks.labels(outcome).inc()
