"""What one user says in a conversation: clips, spoken on the spot or taken from the corpus.

Fast synthesisers speak afresh, so a phrasing is heard in every voice; slow ones are taken from the
corpus, at another speed. Which of the training voices and phrasings are kept for choosing between
checkpoints is said here. Refuses to know the time axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Literal

import numpy as np

from audio.frames import SAMPLE_RATE, Samples
from model.training import speech, voices
from model.training.corpus import Spoken
from model.training.phrasings import expanded, halves, hesitates, kept_apart, variant
from model.training.plan import OPEN, Utterance
from model.training.texts import BACKCHANNEL, NOT_UNDERSTOOD, Topic, known_in, plain

Part = Literal["train", "dev", "held_out"]
FAST = ("espeak", "mbrola", "flite", "pico", "rhvoice")
KNOWN_SHARE = 0.4
"""Of the requests of the checks: phrasings that training hears, in other voices."""
PATTERN_SHARE = 0.75
"""Of the requests in training: a fresh phrasing from a pattern."""
WRAPPED = 0.35
"""The share of phrasings with something around them, in training."""
RESAMPLE = (0.8, 1.22)
"""Speed and pitch together: as if other people spoke."""
OPEN_SHARE = 0.6
"""Of what is not understood: sentences of the open vocabulary."""
QUIET = 0.03
"""Of the peak: a stretch below it is a gap between words."""
GAP_S = 0.05


@dataclass(frozen=True, slots=True)
class Clip:
    """What a user says once. pause: [start, end) in samples, silent; empty when there is none."""

    topic: str
    text: str
    samples: Samples
    pause: tuple[int, int] = (0, 0)


class Texts:
    """The phrasings of one part by topic; `known` are those of all parts, to stop at none of them."""

    def __init__(self, topics: Sequence[Topic], part: Part, open_texts: Sequence[str] = ()) -> None:
        self.part = part
        self.phrasings = {topic.name: _of_part(topic, part) for topic in topics}
        self._patterns = {topic.name: topic.patterns for topic in topics}
        self._heard = {topic.name: _of_part(topic, "train") for topic in topics}
        self.known = known_in(topics)
        kept = frozenset(text for topic in topics for text in _kept(topic))
        self._kept = [plain(text) for text in sorted(kept)]
        self._open = open_texts
        self._never = kept_apart(kept)

    @property
    def fallback(self) -> str:
        return HELD_OUT_FALLBACK if self.part == "held_out" else FALLBACK

    def draw(self, random: Random, topic: str) -> str:
        """A phrasing; in training perhaps with polite words around it, never one that is kept."""
        if topic == NOT_UNDERSTOOD and self._open and random.random() < OPEN_SHARE:
            return random.choice(self._open)
        known = self.part == "held_out" and random.random() < KNOWN_SHARE
        said = random.choice((self._heard if known else self.phrasings)[topic])
        if self.part != "train":
            return said
        if self._patterns[topic] and random.random() < PATTERN_SHARE:
            made = expanded(random, random.choice(self._patterns[topic]))
            said = said if self.holds_a_kept_one(made) else made
        if topic == BACKCHANNEL or random.random() >= WRAPPED:
            return said
        return variant(random, said, self._never)

    def holds_a_kept_one(self, text: str) -> bool:
        """Whether a phrasing that is kept from training is in the text."""
        said = plain(text)
        return any(f" {kept} " in f" {said} " if " " in kept else kept == said for kept in self._kept)


@dataclass(frozen=True)
class Caller:
    """One user: a fast voice that says anything, or a slow one with its corpus clips."""

    voice: str
    manner: Utterance
    texts: Texts
    clips: Mapping[str, Sequence[Spoken]]
    resample: float

    def say(self, random: Random, topic: str, pause_s: float = 0.0) -> Clip:
        """Raises ModelError when a synthesiser fails."""
        if self.voice.split(":")[0] not in FAST:
            return self._from_corpus(random, topic, pause_s)
        text = self.texts.draw(random, topic)
        cut = halves(random, text, self.texts.known) if pause_s else None
        samples = speech.speak(replace(self.manner, text=cut or text)).samples
        return Clip(topic, text, *_stopped(samples, pause_s if cut else 0.0))

    def say_text(self, topic: str, text: str) -> Clip:
        """This very text; a slow voice lends it to another."""
        manner = self.manner
        if self.voice.split(":")[0] not in FAST:
            manner = replace(manner, voice=self.texts.fallback)
        return Clip(topic, text, speech.speak(replace(manner, text=text)).samples)

    def _known(self, random: Random, topic: str) -> Sequence[Spoken]:
        if topic == NOT_UNDERSTOOD and random.random() < OPEN_SHARE:
            return self.clips.get(OPEN) or self.clips.get(topic, ())
        return self.clips.get(topic, ())

    def _from_corpus(self, random: Random, topic: str, pause_s: float) -> Clip:
        found = self._known(random, topic)
        if pause_s:
            halting = [item for item in found if hesitates(item.utterance.text, self.texts.known)]
            found, pause_s = (halting, pause_s) if halting else (found, 0.0)
        if not found:
            return self.say_text(topic, self.texts.draw(random, topic))
        item = random.choice(found)
        sound = item.samples()
        at = np.arange(0, len(sound) - 1, self.resample)
        changed = np.interp(at, np.arange(len(sound)), sound).astype(np.float32)
        return Clip(topic, item.utterance.text, *_stopped(changed, pause_s))


class Callers:
    """Draws users of one part."""

    def __init__(self, texts: Texts, corpus: Sequence[Spoken], slow_share: float) -> None:
        self.texts = texts
        self._corpus = corpus
        self._slow_share = slow_share

    def draw(self, random: Random) -> Caller:
        slow = sorted(voice for voice in self._by_voice if voice.split(":")[0] not in FAST)
        voice = random.choice(slow if slow and random.random() < self._slow_share else self._fast)
        resample = random.uniform(*RESAMPLE)
        manner = Utterance(
            key="",
            role="user",
            split="train",
            topic="",
            text="",
            seen_text=True,
            voice=voice,
            stretch=random.uniform(0.82, 1.22) * resample,
            pitch=random.randint(15, 85),
            resample=resample,
            variation=0.5,
        )
        return Caller(voice, manner, self.texts, self._by_voice.get(voice, {}), resample)

    @cached_property
    def _fast(self) -> list[str]:
        everyone = voices.HELD_OUT_USERS if self.texts.part == "held_out" else voices.USERS
        kept = DEV_VOICES if self.texts.part == "dev" else ()
        fast = [voice for voice in everyone if voice.split(":")[0] in FAST]
        if self.texts.part == "held_out":
            return fast
        return [voice for voice in fast if (voice in DEV_VOICES) == bool(kept)]

    @cached_property
    def _by_voice(self) -> dict[str, dict[str, list[Spoken]]]:
        """The clips whose voice and text belong to this part."""
        mine: dict[str, dict[str, list[Spoken]]] = {}
        for item in self._corpus:
            said = item.utterance
            if said.role != "user" or not self._is_mine(said):
                continue
            mine.setdefault(_who(said), {}).setdefault(said.topic, []).append(item)
        return mine

    def _is_mine(self, said: Utterance) -> bool:
        if self.texts.part == "held_out" or said.split == "held_out":
            return self.texts.part == said.split
        if (said.voice in DEV_VOICES) != (self.texts.part == "dev"):
            return False
        return self.texts.part == "dev" or not self.texts.holds_a_kept_one(said.text)


DEV_VOICES = (
    *("festival:ked_diphone", "espeak:en-gb-scotland+f2", "espeak:en-us+Michael"),
    *("espeak:en-gb-scotland+steph", "mbrola:en1", "mbrola:sw2-en", *voices.DEV_NATURAL_USERS),
)
"""Voices that only choose between checkpoints."""
FALLBACK = "flite:slt"
HELD_OUT_FALLBACK = "flite:awb"
"""Who says what a slow voice has not said in the corpus."""


def _who(said: Utterance) -> str:
    """Kokoro's voices are mixed afresh for each clip: all of them are one user here."""
    engine, _, name = said.voice.partition(":")
    return engine if engine == "kokoro" else f"{engine}:{name}"


def _stopped(samples: Samples, pause_s: float) -> tuple[Samples, tuple[int, int]]:
    return paused(samples, int(pause_s * SAMPLE_RATE)) if pause_s else (samples, (0, 0))


def paused(samples: Samples, length: int) -> tuple[Samples, tuple[int, int]]:
    """The longest gap inside made at least `length` samples long; unchanged when there is none."""
    hop = SAMPLE_RATE // 100
    peaks = np.abs(samples[: len(samples) // hop * hop]).reshape(-1, hop).max(axis=1)
    quiet = np.concatenate([[False], peaks < QUIET * peaks.max(), [False]])
    edges = np.flatnonzero(np.diff(quiet.astype(np.int8)))
    gaps = [(a, b) for a, b in edges.reshape(-1, 2) if a > 0 and b < len(peaks)]
    start, end = max(gaps, key=lambda gap: gap[1] - gap[0], default=(0, 0))
    if (end - start) * hop < GAP_S * SAMPLE_RATE:
        return samples, (0, 0)
    middle = (start + end) // 2 * hop
    more = np.zeros(max(0, length - (end - start) * hop), np.float32)
    whole = np.concatenate([samples[:middle], more, samples[middle:]])
    return whole, (int(start * hop), int(end * hop + len(more)))


def _of_part(topic: Topic, part: Part) -> tuple[str, ...]:
    if part == "held_out":
        return topic.held_out or topic.phrasings
    if part == "dev":
        return topic.dev or topic.phrasings
    return tuple(text for text in topic.phrasings if text not in topic.dev)


def _kept(topic: Topic) -> tuple[str, ...]:
    return (*topic.held_out, *topic.dev)
