"""Two-channel conversations on a time axis: who says what when, before any sound is mixed.

Pure and seeded. User times are samples, agent times are frames; frame n of both channels lies at
the same time. The agent never greets: it waits for the user, and speaks first only after a long
silence. Refuses to know codes, rooms and noise: a `Cast` gives clips of which only lengths count.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from audio.frames import FRAME_RATE, FRAME_SAMPLES, SAMPLE_RATE
from model.training.texts import NOT_UNDERSTOOD, SILENCE

REPEAT = "repeat"
STOP = "stop"
SIDE = "side sound"


@dataclass(frozen=True, slots=True)
class Heard:
    """Something in the user's channel. `pauses`: [start, end) in samples of the clip, silent."""

    topic: str
    text: str
    length: int
    pauses: tuple[tuple[int, int], ...] = ()
    clip: Any = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One take of the agent. frames: how long it lasts."""

    topic: str
    frames: int
    take: Any = None


class Cast(Protocol):
    """Who speaks in one conversation: always the same user."""

    def request(self, random: Random, topic: str, pause_s: float) -> Heard:
        """A request; with pause_s > 0 it stops that long in the middle if it can be cut at all."""

    def listener(self, random: Random) -> Heard:
        """A backchannel: "mm-hm"."""

    def side_sound(self, random: Random) -> Heard:
        """A cough, a knock."""

    def answer(self, random: Random, topic: str) -> Answer:
        """A take of an answer to the topic."""


@dataclass(frozen=True, slots=True)
class Manners:
    """How conversations go. Chances are shares, times seconds unless named frames.

    wait_frames: between the frame in which the user ends and the one before the answer's first
    word; now and then longer than any pause, so that whoever was not sure still answers.
    yield_frames: from the frame in which a user speaks over the agent to its silence.
    """

    first_gap_s: tuple[float, float] = (0.1, 2.0)
    gap_s: tuple[float, float] = (0.1, 2.6)
    wait_frames: tuple[int, ...] = (*[3] * 10, *[4] * 5, 14)
    yield_frames: tuple[int, ...] = (8, 9)
    pause_chance: float = 0.35
    pause_s: tuple[float, float] = (0.3, 1.05)
    not_understood: float = 0.2
    barge_in: float = 0.4
    barge_in_long: float = 0.85
    long_frames: int = 60
    listener: float = 0.5
    side_sound: float = 0.2
    alone: float = 0.12
    repeat_chance: float = 0.1
    """Of the requests after an answer that can be said again, beside those drawn anyway."""
    stop_chance: float = 0.15
    """Of what a user breaks in with."""
    long_silence: float = 0.06
    silence_s: tuple[float, float] = (8.0, 8.8)
    listen_gap_s: tuple[float, float] = (0.36, 0.7)
    short_frames: int = 9
    """An answer not longer than this is never talked over."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Heard from `start` (samples)."""

    heard: Heard
    start: int

    @property
    def end(self) -> int:
        return self.start + self.heard.length


@dataclass(frozen=True, slots=True)
class Said:
    """An answer from frame `start` to frame `end`, which is earlier than its own when it was cut."""

    answer: Answer
    start: int
    end: int


@dataclass(slots=True)
class Dialogue:
    """frames: its length. Requests that the agent answers are in `turns`, everything heard in `user`."""

    frames: int
    user: list[Placed] = field(default_factory=list)
    agent: list[Said] = field(default_factory=list)
    turns: list[Placed] = field(default_factory=list)


def compose(random: Random, cast: Cast, topics: list[str], frames: int, manners: Manners) -> Dialogue:
    """A conversation of `frames` frames; `topics` are the intents to draw from."""
    return _Composer(random, cast, topics, manners, Dialogue(frames)).run()


def listen(random: Random, cast: Cast, topics: list[str], frames: int, manners: Manners) -> Dialogue:
    """One request after the other, and nobody answers: only to learn what users say."""
    made = Dialogue(frames)
    at = int(random.uniform(*manners.listen_gap_s) * SAMPLE_RATE)
    while True:
        topic = NOT_UNDERSTOOD if random.random() < manners.not_understood else random.choice(topics)
        placed = Placed(cast.request(random, topic, 0.0), at)
        if placed.end > (frames - 4) * FRAME_SAMPLES:
            return made
        made.user.append(placed)
        made.turns.append(placed)
        at = placed.end + int(random.uniform(*manners.listen_gap_s) * SAMPLE_RATE)


@dataclass(slots=True)
class _Composer:
    random: Random
    cast: Cast
    topics: list[str]
    manners: Manners
    made: Dialogue
    at: int = 0
    """Samples: where the next sound may begin."""
    last: Answer | None = None
    next: Heard | None = None
    """The request that has already broken into the last answer."""

    def run(self) -> Dialogue:
        self.at = self._samples(self.manners.first_gap_s)
        while self._room():
            if self.next is None and self._chance(self.manners.long_silence):
                self._long_silence()
            elif self.next is None and self._chance(self.manners.alone):
                self._alone()
            elif not self._turn():
                break
        return self.made

    def _room(self) -> bool:
        return self.at < (self.made.frames - FRAME_RATE) * FRAME_SAMPLES

    def _chance(self, share: float) -> bool:
        return self.random.random() < share

    def _samples(self, span_s: tuple[float, float]) -> int:
        return int(self.random.uniform(*span_s) * SAMPLE_RATE)

    def _long_silence(self) -> None:
        start = -(-(self.at + self._samples(self.manners.silence_s)) // FRAME_SAMPLES)
        said = self._say(self.cast.answer(self.random, SILENCE), start)
        self.at = said.end * FRAME_SAMPLES + self._samples(self.manners.gap_s)

    def _alone(self) -> None:
        """A sound that wants no answer while nobody talks."""
        sound = self.cast.listener if self._chance(0.5) else self.cast.side_sound
        placed = self._place(sound(self.random), self.at)
        self.at = placed.end + self._samples(self.manners.gap_s) + SAMPLE_RATE // 2

    def _place(self, heard: Heard, start: int) -> Placed:
        placed = Placed(heard, start)
        self.made.user.append(placed)
        return placed

    def _say(self, answer: Answer, start: int, end: int | None = None) -> Said:
        last = min(self.made.frames, start + answer.frames if end is None else end)
        said = Said(answer, start, max(start, last))
        if start < self.made.frames:
            self.made.agent.append(said)
        return said

    def _turn(self) -> bool:
        """A request and its answer. False when the request would not end in time."""
        heard, self.next = self.next or self._request(), None
        if not self._fits(heard):
            return False
        turn = self._place(heard, self.at)
        self.made.turns.append(turn)
        start = -(-turn.end // FRAME_SAMPLES) + self.random.choice(self.manners.wait_frames)
        if heard.topic == REPEAT and self.last is not None:
            self._answer_again(start, self.last)
        else:
            self._answer(self.cast.answer(self.random, heard.topic), start)
        return True

    def _request(self, stop_chance: float = 0.0) -> Heard:
        manners = self.manners
        topic = self.random.choice(self.topics)
        if self._chance(manners.not_understood):
            topic = NOT_UNDERSTOOD
        if self.last is not None and self._chance(manners.repeat_chance):
            topic = REPEAT
        if self._chance(stop_chance):
            topic = STOP
        pause_s = self.random.uniform(*manners.pause_s) if self._chance(manners.pause_chance) else 0.0
        return self.cast.request(self.random, topic, pause_s)

    def _fits(self, heard: Heard) -> bool:
        return self.at + heard.length <= (self.made.frames - 3) * FRAME_SAMPLES

    def _answer_again(self, start: int, last: Answer) -> None:
        head = self._say(self.cast.answer(self.random, REPEAT), start)
        self._answer(last, head.end)

    def _answer(self, answer: Answer, start: int) -> None:
        """The answer, perhaps talked over; leaves `at` where the user may go on."""
        if answer.topic not in (REPEAT, NOT_UNDERSTOOD):
            self.last = answer
        span = (start + 4) * FRAME_SAMPLES, (start + answer.frames - 4) * FRAME_SAMPLES
        long = answer.frames > self.manners.long_frames
        share = self.manners.barge_in_long if long else self.manners.barge_in
        if answer.frames > self.manners.short_frames and self._chance(share):
            early = min(span[1], span[0] + 25 * FRAME_SAMPLES) if self._chance(0.6) else span[1]
            self.at = self.random.randint(span[0], early)
            self.next = self._request(self.manners.stop_chance)
            if self._fits(self.next):
                stop = self.at // FRAME_SAMPLES + self.random.choice(self.manners.yield_frames)
                self._say(answer, start, min(stop, start + answer.frames))
                return
            self.next = None
        said = self._say(answer, start)
        self._sounds_over(said, span)
        self.at = said.end * FRAME_SAMPLES + self._samples(self.manners.gap_s)

    def _sounds_over(self, said: Said, span: tuple[int, int]) -> None:
        """Backchannels and other sounds through which the agent goes on."""
        start = span[0]
        while start < min(span[1], said.end * FRAME_SAMPLES):
            if self._chance(self.manners.listener):
                start = self._place(self.cast.listener(self.random), self._in(start, span[1])).end
            elif self._chance(self.manners.side_sound):
                start = self._place(self.cast.side_sound(self.random), self._in(start, span[1])).end
            start += int(2.5 * SAMPLE_RATE)

    def _in(self, low: int, high: int) -> int:
        return self.random.randint(low, max(low, min(high, low + 2 * SAMPLE_RATE)))
