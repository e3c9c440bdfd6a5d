"""One channel of one call: audio and how much it is speech go in, windows to hear and certain words come out.

A window grows while somebody speaks; it is cut where the speaker pauses after words that are told, and
never longer than Whisper hears. Audio in which nobody speaks is let go at once.
Refuses to know Whisper, other channels and the clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from audio.frames import Samples
from duet_client.wire import Channel, Word
from transcribe_sidecar.agreement import Agreement
from transcribe_sidecar.pace import Pace
from transcribe_sidecar.speech import PAUSE_CHUNKS, Gate, Utterance
from transcribe_sidecar.timeline import CHUNK_MS, Window

_PAD = 7
"""Chunks before and after an utterance that are heard with it: 224 ms."""
_HEARD_OUT = 4
"""A pass that heard 128 ms beyond the last speech heard all of it."""
_TRIM = 9_000 // CHUNK_MS
_TRIM_WORDS = 4
"""Told words that a trimmed window keeps, so that it can be seen where it goes on."""
_LEAD = 4
"""Chunks before them: in a window that begins inside a word Whisper often hears nothing at all."""
_MOST = 26_000 // CHUNK_MS
_CUT_FROM = 0.6
"""A window that must be cut is cut where it is quietest in its last part."""
_PATIENCE = 4
"""A channel in which nothing can be made out, music perhaps, is heard this many times less often."""
_QUIET_MS = 500
"""Speech shows in the probabilities later than it begins, but not by more than this."""
ONGOING_MS = 5_000
"""How often a long silence is told, so that a successor need not listen to it again."""


@dataclass(frozen=True, slots=True)
class _Chunk:
    at: int
    samples: Samples
    probability: float
    arrived: float


@dataclass(frozen=True, slots=True)
class Told:
    """Words that became certain, and until when the channel is told. utterance: one that ended here."""

    channel: Channel
    words: tuple[Word, ...]
    through_ms: int
    utterance: tuple[int, int] | None = None


class Ear:
    """origin_ms: when chunk 0 began. told, through_ms: what the server has of this channel already.

    growing: words are wanted while somebody speaks, not only once an utterance is over.
    """

    def __init__(
        self,
        channel: Channel,
        origin_ms: int = 0,
        told: Sequence[Word] = (),
        through_ms: int = 0,
        growing: bool = True,
    ) -> None:
        self.channel = channel
        self._origin_ms = origin_ms
        self._agreement = Agreement(told, through_ms)
        self._growing = growing
        self._gate = Gate()
        self._chunks: deque[_Chunk] = deque()
        self._utterances: deque[Utterance] = deque()
        self._end = 0
        self._from = 0  # first chunk of the head utterance's next window
        self._heard_to = 0  # end of the last window
        self._barren = 0  # passes in a row without a word
        self._hearing: tuple[int, int] | None = None  # chunks of the window that is being heard

    @property
    def waiting_ms(self) -> int:
        """Audio held for a pass that is still to come."""
        return len(self._chunks) * CHUNK_MS if self._utterances else 0

    @property
    def now_ms(self) -> int:
        return self._ms(self._end)

    @property
    def untold_ms(self) -> int | None:
        """The beginning of the speech that is not told yet, None where all is."""
        if not self._utterances:
            return None
        return max(self._agreement.through_ms, self._ms(self._utterances[0].start))

    def push(self, samples: Samples, probability: float, now: float) -> None:
        """Take float32 [512] at 16 kHz and the probability that it is speech."""
        self._chunks.append(_Chunk(self._end, samples, probability, now))
        self._end += 1
        started = self._gate.push(probability)
        if started is not None:
            self._utterances.append(started)
            if len(self._utterances) == 1:
                self._begin()
        self._let_go()

    def skip(self, chunks: int) -> None:
        """Nothing is known of the next chunks; what was said before them is over."""
        self.close()
        self._gate.skip(chunks)
        self._end += chunks

    def close(self) -> None:
        """Nothing follows, or nothing that belongs to what was said."""
        self._gate.close()

    def quiet(self) -> Told | None:
        """Silence that is worth telling, so that through_ms stays close to now."""
        if self._utterances:
            return None
        until = self.now_ms - _QUIET_MS - self._gate.waiting * CHUNK_MS
        if until < self._agreement.through_ms + ONGOING_MS:
            return None
        self._agreement.quiet(until)
        return self._tell(())

    def settle(self) -> Told | None:
        """Words that are final without another pass, because the last one heard all of the utterance."""
        if self._hearing is None and self._utterances and self._heard_out(self._utterances[0]):
            utterance = self._utterances[0]
            words = self._agreement.settled(self._ms(utterance.end))
            return self._finish(utterance, words)
        return None

    def wants(self, pace: Pace) -> float | None:
        """Since when a pass has been due (the clock of `push`), None if none is."""
        if self._hearing is not None or not self._utterances:
            return None
        head = self._utterances[0]
        unheard = self._end - max(self._heard_to, self._from + _PAD)
        full = self._end - self._from >= _MOST
        paused = self._end - head.end >= PAUSE_CHUNKS
        grown = pace.interval_ms is not None and (
            paused or unheard * CHUNK_MS >= pace.interval_ms * min(_PATIENCE, 1 + self._barren)
        )
        new = self._heard_to < head.end
        if not (head.closed or full or (self._growing and grown and new)):
            return None
        return next((chunk.arrived for chunk in self._chunks if chunk.at >= self._heard_to), 0.0)

    def take(self) -> Window:
        """The window of the pass that is due; `hear` it before the next is taken."""
        head = self._utterances[0]
        first, last = self._from, min(self._end, head.end + _PAD if head.closed else self._end)
        cut, closing = head.end, head.closed
        if last - first >= _MOST:
            cut, closing = self._quietest(first), True
            last = cut + _PAD
        self._hearing = (first, cut if closing else last)
        inside = [chunk.samples for chunk in self._chunks if first <= chunk.at < last]
        return Window(
            self.channel,
            self._ms(self._chunks[0].at if self._chunks[0].at > first else first),
            np.concatenate(inside),
            head.spans(first, last, self._origin_ms),
            head.speech,
            closing,
            self._ms(cut),
        )

    def hear(self, window: Window, words: tuple[Word, ...]) -> Told | None:
        """The words of a window that was taken; returns what is certain by them."""
        if self._hearing is None:
            return None
        (first, last), self._hearing = self._hearing, None
        head = self._utterances[0]
        self._heard_to = last
        self._barren = 0 if words else self._barren + 1
        if not window.closing:
            told = self._agreement.supposed(words, window.end_ms)
            self._trim(head)
            return self._tell(told) if told else None
        final = self._agreement.final(words, window.cut_ms)
        if head.closed and last >= head.end:
            return self._finish(head, final)
        self._from = last - _PAD
        self._let_go()
        return self._tell(final, utterance=(max(self._ms(first), self._ms(head.start)), window.cut_ms))

    def _heard_out(self, head: Utterance) -> bool:
        return head.closed and self._heard_to >= head.end + _HEARD_OUT

    def _finish(self, head: Utterance, words: tuple[Word, ...]) -> Told:
        span = (max(self._ms(head.start), self._ms(self._from)), self._ms(head.end))
        self._utterances.popleft()
        self._begin()
        self._let_go()
        return self._tell(words, utterance=span)

    def _begin(self) -> None:
        if self._utterances:
            self._from = max(0, self._utterances[0].start - _PAD)
            self._heard_to = self._from

    def _tell(self, words: tuple[Word, ...], utterance: tuple[int, int] | None = None) -> Told:
        return Told(self.channel, words, self._agreement.through_ms, utterance)

    def _trim(self, head: Utterance) -> None:
        """Moves the window's start into the last pause before the told end, or to the last told words."""
        if self._heard_to - self._from <= _TRIM:
            return
        edge = (self._agreement.through_ms - self._origin_ms) // CHUNK_MS
        pauses = [(a[1] + b[0]) // 2 for a, b in pairwise(head.runs) if self._from < a[1] and b[0] <= edge]
        at = pauses[-1] if pauses else self._from
        told = list(self._agreement.told)[-_TRIM_WORDS:]
        if self._heard_to - at > _TRIM and told:
            at = max(at, (told[0].start_ms - self._origin_ms) // CHUNK_MS - _LEAD)
        self._from = max(self._from, min(at, edge))
        head.forget(self._from)
        self._let_go()

    def _quietest(self, first: int) -> int:
        """The middle of the stretch of three chunks that is least like speech, late in a full window."""
        start = first + int(_CUT_FROM * (_MOST - _PAD))
        late = [chunk for chunk in self._chunks if start <= chunk.at < first + _MOST - _PAD]
        sums = np.convolve([chunk.probability for chunk in late], np.ones(3), "valid")
        return late[int(np.argmin(sums)) + 1].at

    def _let_go(self) -> None:
        keep = self._from if self._utterances else self._end - _PAD - self._gate.waiting
        if self._hearing is not None:
            keep = min(keep, self._hearing[0])
        while self._chunks and self._chunks[0].at < keep:
            self._chunks.popleft()

    def _ms(self, chunk: int) -> int:
        return self._origin_ms + chunk * CHUNK_MS
