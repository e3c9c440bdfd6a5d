"""The calls of the conversation check: what the user's side sends, and where what happens in it.

Every call is one user of one part (held-out voices and phrasings, or those kept for choosing
checkpoints) in a room and a noise of its own. Refuses to know the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

import numpy as np

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, Samples
from model.training import vary
from model.training.callers import Caller, Callers, Clip
from model.training.crops import cut
from model.training.side_sounds import side_sound
from model.training.texts import BACKCHANNEL, NOT_UNDERSTOOD

Kind = Literal["request", "echo", "pause", "barge-in", "listener", "not understood", "repeat", "silence"]
LISTEN_S = 5.0
"""After the last thing the user says."""
TALKING_S = (1.3, 2.2)
"""After a request whose answer is long: the agent is talking by then."""
LONG = ("story", "count", "help", "joke", "story", "count")
ECHO = vary.decibels(-20)
PAUSE_S = (0.4, 1.0)


@dataclass(frozen=True, slots=True)
class Scene:
    """Times in seconds. asked: the topic of the last request, which ends at end_s.

    second_s: the start and end of what comes while the agent talks. pause_s: silence within a request.
    seed: what the model draws its tokens with.
    """

    kind: Kind
    samples: Samples
    asked: str
    text: str
    voice: str
    end_s: float
    start_s: float = 0.0
    pause_s: tuple[float, float] = (0.0, 0.0)
    second_s: tuple[float, float] = (0.0, 0.0)
    first_asked: str = ""
    echo: float = 0.0
    seed: int = 0


class SceneMaker:
    """Scenes by number: the same number gives the same scene."""

    def __init__(self, callers: Callers, intents: Sequence[str], unseen: Sequence[str]) -> None:
        self._callers, self._intents, self._unseen = callers, intents, unseen

    def scenes(self, counts: Mapping[Kind, int]) -> list[Scene]:
        return [self.scene(kind, number) for kind, count in counts.items() for number in range(count)]

    def scene(self, kind: Kind, number: int) -> Scene:
        random = Random(f"{kind} {number} {self._callers.texts.part}")
        call = _Call(random, self._callers.draw(random))
        topic = self._intents[number % len(self._intents)]
        makers: dict[Kind, Callable[[], Scene]] = {
            "request": lambda: call.request("request", topic),
            "echo": lambda: call.request("echo", random.choice(self._intents), echo=ECHO),
            "pause": lambda: call.paused(self._intents, self._callers.draw),
            "barge-in": lambda: call.over_the_agent("barge-in", LONG[number % len(LONG)], topic),
            "listener": lambda: call.over_the_agent("listener", LONG[number % len(LONG)], None),
            "not understood": lambda: call.unknown(self._unseen, number),
            "repeat": lambda: call.repeat(topic),
            "silence": call.nothing,
        }
        return replace(makers[kind](), seed=number)


class _Call:
    def __init__(self, random: Random, caller: Caller) -> None:
        self.random, self.caller = random, caller
        self.sounds = np.random.default_rng(random.getrandbits(62))
        self.line = random.getrandbits(31)
        self.at_s = random.uniform(0.5, 1.5)
        self.placed: list[tuple[float, Samples]] = []

    def put(self, clip: Clip) -> tuple[float, float]:
        """Places it and says from when to when it is heard."""
        sound = vary.voice_of_a_user(np.random.default_rng(self.line), clip.samples)
        self.placed.append((self.at_s, sound))
        start_s = self.at_s
        self.at_s += len(sound) / SAMPLE_RATE
        return start_s, self.at_s

    def channel(self, listen_s: float) -> Samples:
        frames = int((self.at_s + listen_s) * SAMPLE_RATE) // FRAME_SAMPLES
        whole = vary.noise(self.sounds, frames * FRAME_SAMPLES)
        for start_s, sound in self.placed:
            whole += cut(sound, -int(start_s * SAMPLE_RATE), len(whole))
        return np.clip(whole, -1, 1)

    def request(self, kind: Kind, topic: str, echo: float = 0.0) -> Scene:
        clip = self.caller.say(self.random, topic)
        start_s, end_s = self.put(clip)
        return Scene(
            kind, self.channel(LISTEN_S), topic, clip.text, self.caller.voice, end_s, start_s, echo=echo
        )

    def unknown(self, unseen: Sequence[str], number: int) -> Scene:
        clip = self.caller.say(self.random, NOT_UNDERSTOOD)
        if number % 2:
            clip = self.caller.say_text(NOT_UNDERSTOOD, unseen[number // 2 % len(unseen)])
        start_s, end_s = self.put(clip)
        sent = self.channel(LISTEN_S)
        return Scene("not understood", sent, NOT_UNDERSTOOD, clip.text, self.caller.voice, end_s, start_s)

    def paused(self, intents: Sequence[str], draw: Callable[[Random], Caller]) -> Scene:
        """Tries texts, then other callers, until one can be stopped in the middle."""
        for attempt in range(40):
            if attempt and attempt % 10 == 0:
                self.caller = draw(self.random)
            topic = self.random.choice(list(intents))
            clip = self.caller.say(self.random, topic, self.random.uniform(*PAUSE_S))
            if clip.pause[1]:
                break
        start_s, end_s = self.put(clip)
        pause_s = tuple(start_s + edge / SAMPLE_RATE for edge in clip.pause)
        return Scene(
            "pause",
            self.channel(LISTEN_S),
            topic,
            clip.text,
            self.caller.voice,
            end_s,
            start_s,
            pause_s=(pause_s[0], pause_s[1]),
        )

    def over_the_agent(self, kind: Kind, first: str, topic: str | None) -> Scene:
        """A request with a long answer, then another, or a listener's sound, while the agent talks."""
        self.put(self.caller.say(self.random, first))
        first_end_s = self.at_s
        self.at_s += self.random.uniform(*TALKING_S)
        second = self._listener() if topic is None else self.caller.say(self.random, topic)
        second_s = self.put(second)
        end_s = first_end_s if topic is None else self.at_s
        return Scene(
            kind,
            self.channel(LISTEN_S),
            topic or first,
            second.text,
            self.caller.voice,
            end_s,
            second_s=second_s,
            first_asked=first,
        )

    def _listener(self) -> Clip:
        if self.random.random() < 0.35:
            return Clip("side sound", "", side_sound(self.sounds) * np.float32(0.4))
        return self.caller.say(self.random, BACKCHANNEL)

    def repeat(self, first: str) -> Scene:
        first = "france" if first in ("repeat", "stop", "story", "count") else first
        self.put(self.caller.say(self.random, first))
        self.at_s += 6.0
        clip = self.caller.say(self.random, "repeat")
        start_s, end_s = self.put(clip)
        sent = self.channel(LISTEN_S + 3)
        return Scene(
            "repeat", sent, "repeat", clip.text, self.caller.voice, end_s, start_s, first_asked=first
        )

    def nothing(self) -> Scene:
        return Scene("silence", self.channel(14.0), "silence", "", "", 0.0)
