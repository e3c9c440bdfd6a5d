"""Speech that is written down, and an ear that hears it as Whisper does: times that move from pass to pass,
and words that are cut at an edge heard as something else."""

from __future__ import annotations

import bisect
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from duet_client.wire import Channel, Word
from transcribe_sidecar.ear import Ear, Told
from transcribe_sidecar.pace import STEPS, Pace
from transcribe_sidecar.resume import Standing
from transcribe_sidecar.timeline import CHUNK_MS, CHUNK_SAMPLES, Window

JITTER_MS = 80
SILENCE = np.zeros(CHUNK_SAMPLES, np.float32)


@dataclass(frozen=True)
class Script:
    """Words with their true times on one channel, and what an ear makes of them."""

    words: tuple[Word, ...]

    def probability(self, at_ms: int) -> float:
        middle = at_ms + CHUNK_MS / 2
        next_one = bisect.bisect_left(self.words, middle - 40, key=lambda word: word.end_ms)
        inside = next_one < len(self.words) and self.words[next_one].start_ms - 40 < middle
        return 0.95 if inside else 0.02

    def heard(self, window: Window) -> tuple[Word, ...]:
        found = []
        for word in self.words:
            inside = min(word.end_ms, window.end_ms) - max(word.start_ms, window.start_ms)
            share = inside / (word.end_ms - word.start_ms)
            if share < 0.3:
                continue
            chance = random.Random(f"{word.start_ms} {window.start_ms} {window.end_ms}")
            start = max(window.start_ms, word.start_ms + chance.randint(-JITTER_MS, JITTER_MS))
            end = min(window.end_ms, max(start + 20, word.end_ms + chance.randint(-JITTER_MS, JITTER_MS)))
            found.append(Word(word.word if share > 0.9 else "mumble", start, max(start, end), 0.9))
        return tuple(found)


def talk(seed: int, count: int = 40, texts: Sequence[str] = ()) -> Script:
    """Words of 150 to 500 ms; mostly 40 ms apart, sometimes a short pause, sometimes a long one."""
    chance, at, words = random.Random(seed), 700, []
    for n in range(count):
        length = chance.randint(150, 500)
        words.append(Word(texts[n % len(texts)] if texts else f"word{n}", at, at + length, 1.0))
        at += length + chance.choice((40, 40, 40, 40, 90, 350, 1_300))
    return Script(tuple(words))


def listened(
    ear: Ear,
    script: Script,
    from_ms: int,
    to_ms: int,
    *,
    pace: Pace = STEPS[0],
    busy: Callable[[int], bool] = lambda _: False,
) -> Iterator[Told]:
    """What an ear tells that hears a script from a chunk's beginning on; no pass is possible while busy."""
    for chunk in range((to_ms - from_ms) // CHUNK_MS):
        at_ms = from_ms + chunk * CHUNK_MS
        ear.push(SILENCE, script.probability(at_ms), at_ms / 1000)
        if not busy(at_ms):
            yield from told(ear, script, pace)


def told(ear: Ear, script: Script, pace: Pace = STEPS[0]) -> Iterator[Told]:
    """All that an ear has to tell now."""
    while True:
        found = ear.settle()
        if found is None:
            if ear.wants(pace) is None:
                break
            window = ear.take()
            found = ear.hear(window, script.heard(window))
        if found is not None:
            yield found
    quiet = ear.quiet()
    if quiet is not None:
        yield quiet


class Server:
    """Keeps what is told, and refuses what the wire forbids."""

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.through_ms = 0

    def take(self, told: Told) -> None:
        assert told.through_ms >= self.through_ms, "through_ms went back"
        for word in told.words:
            assert word.start_ms >= self.through_ms, "the server would drop a word as repeated"
            assert word.end_ms >= word.start_ms
        starts = [word.start_ms for word in (*self.words[-1:], *told.words)]
        assert starts == sorted(starts)
        self.words.extend(told.words)
        self.through_ms = told.through_ms

    @property
    def texts(self) -> list[str]:
        return [word.word for word in self.words]

    @property
    def standing(self) -> Standing:
        return Standing(tuple(self.words[-12:]), self.through_ms)


def ear(channel: Channel = "user", growing: bool = True) -> Ear:
    return Ear(channel, growing=growing)
