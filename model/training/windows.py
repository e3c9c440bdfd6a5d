"""Training conversations as tokens: composed, mixed, encoded, and kept one to a file.

Window n is the same for the same codec, corpus and n, so several makers can work side by side, and
training takes in new windows while they are made. Refuses to know the language model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from audio.frames import FRAME_SAMPLES
from model.training.callers import Caller, Callers, Clip
from model.training.corpus import FULL
from model.training.dialogue import SIDE, Answer, Dialogue, Heard, Manners, Placed, Said, compose, listen
from model.training.files import write_whole
from model.training.mixing import Place, user_channel
from model.training.monologue import PADDING
from model.training.side_sounds import side_sound
from model.training.takes import Codes, Encode, Take, TakeCodes, codes_of
from model.training.texts import BACKCHANNEL

FRAMES = 300
END_FRAMES = 4
"""After the user's end a frame is labelled with what was asked."""
NEAR, ONSET, UNANSWERED = 1, 2, -1
LISTEN_IN = 4
"""Of so many windows the second half is unanswered: more speech for the same encoding."""
QUIET = -1


@dataclass(frozen=True, slots=True)
class Window:
    """user, agent: codes [books, frames]. text: [frames].

    marks: [frames], NEAR the agent's speech, ONSET at its beginning, else 0; UNANSWERED throughout where
    the agent is left out and nothing is to be learned of it. labels: [frames], the
    topic just asked for, one past the last topic in a pause within a request, QUIET elsewhere.
    words: what the user says, in order.
    """

    user: Codes
    agent: Codes
    text: npt.NDArray[np.int16]
    marks: npt.NDArray[np.int8]
    labels: npt.NDArray[np.int8]
    words: str

    def keep(self, path: Path) -> None:
        parts: dict[str, Any] = {
            name: getattr(self, name) for name in ("user", "agent", "text", "marks", "labels")
        }
        write_whole(path, lambda file: np.savez(file, words=np.array(self.words), **parts))

    @staticmethod
    def read(path: Path) -> Window:
        with np.load(path) as kept:
            arrays = {name: kept[name] for name in kept.files}
        return Window(**{**arrays, "words": str(arrays["words"])})


class Players:
    """Keeps `dialogue.Cast`: one caller and the agent's takes."""

    def __init__(
        self, caller: Caller, takes: Mapping[str, Sequence[Take]], sounds: np.random.Generator
    ) -> None:
        self._caller, self._takes, self._sounds = caller, takes, sounds

    def request(self, random: Random, topic: str, pause_s: float) -> Heard:
        return _heard(self._caller.say(random, topic, pause_s))

    def listener(self, random: Random) -> Heard:
        return _heard(self._caller.say(random, BACKCHANNEL))

    def side_sound(self, random: Random) -> Heard:  # noqa: ARG002
        sound = side_sound(self._sounds)
        return Heard(SIDE, "", len(sound), clip=sound)

    def answer(self, random: Random, topic: str) -> Answer:
        take = random.choice(self._takes[topic])
        return Answer(topic, take.frames, take)


@dataclass(frozen=True, slots=True)
class Draft:
    """A window before any codec. sound: the user's channel, int16. spoken: the agent's takes, each as
    (topic's label, number of the take, first frame, frame after the last). The rest as in `Window`."""

    sound: npt.NDArray[np.int16]
    spoken: npt.NDArray[np.int16]
    labels: npt.NDArray[np.int8]
    words: str

    def keep(self, path: Path) -> None:
        parts: dict[str, Any] = {"sound": self.sound, "spoken": self.spoken, "labels": self.labels}
        write_whole(path, lambda file: np.savez(file, words=np.array(self.words), **parts))

    @staticmethod
    def read(path: Path) -> Draft:
        with np.load(path) as kept:
            return Draft(kept["sound"], kept["spoken"], kept["labels"], str(kept["words"]))


@dataclass(frozen=True)
class Studio:
    """Composes and mixes. topics: the labels in order. intents: what may be asked for."""

    callers: Callers
    takes: Mapping[str, Sequence[Take]]
    topics: Sequence[str]
    intents: list[str]
    manners: Manners = Manners()

    def draft(self, number: int) -> Draft:
        random = Random(f"window {number}")
        sounds = np.random.default_rng(random.getrandbits(62))
        players = Players(self.callers.draw(random), self.takes, sounds)
        if number % LISTEN_IN >= LISTEN_IN // 2:
            dialogue = listen(random, players, self.intents, FRAMES, self.manners)
        else:
            dialogue = compose(random, players, self.intents, FRAMES, self.manners)
        heard = user_channel(sounds, dialogue, Place.draw(sounds))
        words = " ".join(placed.heard.text for placed in sorted(dialogue.user, key=lambda item: item.start))
        spoken = [self._spoken(said) for said in dialogue.agent]
        return Draft(
            np.round(heard * FULL).astype(np.int16),
            np.array(spoken, np.int16).reshape(-1, 4),
            _labels(dialogue, self.topics),
            words,
        )

    def _spoken(self, said: Said) -> tuple[int, int, int, int]:
        take: Take = said.answer.take
        return self.topics.index(take.topic), take.number, said.start, said.end


@dataclass(frozen=True)
class Booth:
    """Turns drafts into windows for one codec."""

    codes: Mapping[str, Sequence[TakeCodes]]
    silent: Codes
    encode: Encode
    topics: Sequence[str]

    def window(self, draft: Draft) -> Window:
        frames = len(draft.labels)
        agent = np.repeat(self.silent, frames, axis=1)
        text = np.full(frames, PADDING, np.int16)
        marks = np.full(frames, 0 if len(draft.spoken) else UNANSWERED, np.int8)
        for label, number, start, end in draft.spoken.tolist():
            take = self.codes[self.topics[label]][number]
            agent[:, start:end] = take.codes[:, : end - start]
            text[start:end] = take.tokens[: end - start]
            near = slice(max(0, start - 3), end + 4)
            marks[near] = np.maximum(marks[near], NEAR)
            marks[start : start + 2] = ONSET
        heard = draft.sound.astype(np.float32) / np.float32(FULL)
        return Window(codes_of(self.encode, heard), agent, text, marks, draft.labels, draft.words)


def _heard(clip: Clip) -> Heard:
    pauses = (clip.pause,) if clip.pause[1] else ()
    return Heard(clip.topic, clip.text, len(clip.samples), pauses, clip)


def _labels(dialogue: Dialogue, topics: Sequence[str]) -> npt.NDArray[np.int8]:
    labels = np.full(dialogue.frames, QUIET, np.int8)
    for turn in dialogue.turns:
        for start, end in turn.heard.pauses:
            labels[_frame(turn, start) + 1 : _frame(turn, end)] = len(topics)
        end = -(-turn.end // FRAME_SAMPLES)
        labels[end : end + END_FRAMES] = topics.index(turn.heard.topic)
    return labels


def _frame(turn: Placed, sample: int) -> int:
    return -(-(turn.start + sample) // FRAME_SAMPLES)
