"""When somebody speaks: probabilities of 32 ms each go in, utterances and their runs of speech come out.

Silero's own rule with two thresholds, made streaming. Refuses to know where the probabilities come from.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from transcribe_sidecar.timeline import CHUNK_MS, Span

ON = 0.5
OFF = 0.35
ONSET_CHUNKS = 3
"""Shorter than 96 ms is a click, no syllable."""
PAUSE_CHUNKS = 5
"""160 ms without speech part two runs."""
END_CHUNKS = 20
"""640 ms without speech end an utterance."""


@dataclass(slots=True)
class Utterance:
    """Chunks [start, end); `end` is of what was heard of it so far, until it is `closed`.

    runs: pairs [start, end) in chunks. total, count: sum and number of the probabilities in the runs.
    """

    start: int
    end: int
    runs: list[list[int]] = field(default_factory=list)
    total: float = 0.0
    count: int = 0
    closed: bool = False

    def spans(self, first: int, last: int, origin_ms: int = 0) -> tuple[Span, ...]:
        """The runs within chunks [first, last), in milliseconds after `origin_ms`."""
        return tuple(
            Span(origin_ms + max(a, first) * CHUNK_MS, origin_ms + min(b, last) * CHUNK_MS)
            for a, b in self.runs
            if b > first and a < last
        )

    @property
    def speech(self) -> float:
        """Mean probability of speech in the runs."""
        return self.total / max(1, self.count)

    def forget(self, before: int) -> None:
        """Lets go of the runs that end before a chunk, so that one without end does not grow."""
        self.runs = [run for run in self.runs if run[1] > before]


class Gate:
    """Chunk n of the stream is that of the nth `push`. open: the utterance that goes on, if one does."""

    def __init__(self) -> None:
        self.open: Utterance | None = None
        self._at = 0
        self._onset: list[float] = []
        self._quiet = 0

    @property
    def waiting(self) -> int:
        """Chunks that may turn out to be the onset of an utterance."""
        return len(self._onset)

    def skip(self, chunks: int) -> None:
        """The stream goes on later; call it only while nobody speaks."""
        self._at += chunks

    def push(self, probability: float) -> Utterance | None:
        """The utterance that begins with this chunk or a little before, if one does."""
        now, self._at = self._at, self._at + 1
        if self.open is not None:
            self._go_on(self.open, now, probability)
            return None
        self._onset = [*self._onset, probability] if probability >= ON else []
        if len(self._onset) < ONSET_CHUNKS:
            return None
        start = now + 1 - len(self._onset)
        self.open = Utterance(start, now + 1, [[start, now + 1]], sum(self._onset), ONSET_CHUNKS)
        self._onset, self._quiet = [], 0
        return self.open

    def close(self) -> None:
        """Nothing follows."""
        self._onset = []
        if self.open is not None:
            self.open.closed, self.open = True, None

    def _go_on(self, utterance: Utterance, now: int, probability: float) -> None:
        paused = self._quiet >= PAUSE_CHUNKS
        if probability >= (ON if paused else OFF):
            self._speech(utterance, now, probability, paused)
        else:
            self._quiet += 1
            if self._quiet >= END_CHUNKS:
                self.close()

    def _speech(self, utterance: Utterance, now: int, probability: float, paused: bool) -> None:
        if paused:
            utterance.runs.append([now, now + 1])
        utterance.runs[-1][1] = utterance.end = now + 1
        utterance.total += probability
        utterance.count += 1
        self._quiet = 0
