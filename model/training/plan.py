"""Which utterances the data is made of: every text, voice and manner of speaking, before any sound.

Pure: the same settings give the same plan, on any machine. Refuses to know synthesisers and files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from model.training import voices
from model.training.sentences import sentences
from model.training.texts import Domain, Topic

Role = Literal["agent", "user"]
Split = Literal["train", "held_out"]
OPEN = "open"
"""The topic of sentences that belong to no intent."""


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """takes: renderings of one text. open: how many sentences of the open vocabulary."""

    seed: int = 20261129
    answer_takes: int = 3
    open_agent: int = 900
    user_takes: int = 12
    held_out_takes: int = 3
    open_user: int = 500
    natural_takes: int = 1
    natural_held_out_takes: int = 1


@dataclass(frozen=True, slots=True)
class Utterance:
    """One thing said once.

    split: "held_out" is never trained on, because of its voice (users) or its text (agent).
    seen_text: the text is one that training hears (in other voices).
    stretch: duration as a factor. pitch: espeak's 0 to 99. resample: speed and pitch together.
    variation: how much the neural voice may vary (piper's noise scale).
    """

    key: str
    role: Role
    split: Split
    topic: str
    text: str
    seen_text: bool
    voice: str
    stretch: float
    pitch: int
    resample: float
    variation: float


@dataclass(frozen=True, slots=True)
class _Line:
    role: Role
    split: Split
    topic: str
    text: str
    seen_text: bool
    takes: int
    voices: Sequence[str]
    steady: bool = False


def plan(
    settings: PlanSettings, domain: Domain, words: dict[str, list[str]], unseen: Sequence[str]
) -> list[Utterance]:
    """Every utterance in order; `unseen` are the agent's held-out sentences."""
    never = frozenset(unseen)
    open_agent = sentences(settings.open_agent, f"{settings.seed} agent", words, never)
    open_user = sentences(settings.open_user, f"{settings.seed} user", words, never)
    agent = (voices.AGENT,)
    lines = [
        _Line("agent", "train", topic.name, text, True, settings.answer_takes, agent, steady=True)
        for topic in domain.topics
        for text in topic.answers
    ]
    lines += [_Line("agent", "train", OPEN, text, True, 1, agent) for text in open_agent]
    lines += [_Line("agent", "held_out", OPEN, text, False, 1, agent) for text in unseen]
    for topic in domain.topics:
        lines += _requests(topic, settings.user_takes, settings.held_out_takes, _SYNTHETIC)
    lines += [_Line("user", "train", OPEN, text, True, 1, voices.USERS) for text in open_user]
    for topic in domain.topics:
        lines += _requests(topic, settings.natural_takes, settings.natural_held_out_takes, _NATURAL)
    spoken = [line for line in lines for _ in range(line.takes)]
    return [_utterance(number, line, settings.seed) for number, line in enumerate(spoken)]


def _requests(topic: Topic, takes: int, held_out_takes: int, who: _Voices) -> Iterator[_Line]:
    trained, held_out = who
    for text in topic.phrasings:
        yield _Line("user", "train", topic.name, text, True, takes, trained)
        yield _Line("user", "held_out", topic.name, text, True, held_out_takes, held_out)
    for text in topic.held_out:
        yield _Line("user", "held_out", topic.name, text, False, held_out_takes, held_out)


def _utterance(number: int, line: _Line, seed: int) -> Utterance:
    random = Random(f"{seed} utterance {number}")
    voice = line.voices[0] if len(line.voices) == 1 else random.choice(line.voices)
    spread = 0.17 if line.role == "user" else 0.0 if line.steady else 0.12
    return Utterance(
        key=f"{line.role}-{number:05d}",
        role=line.role,
        split=line.split,
        topic=line.topic,
        text=line.text,
        seen_text=line.seen_text,
        voice=voice,
        stretch=round(random.uniform(1 - spread, 1 + spread), 3),
        pitch=random.randint(25, 75),
        resample=round(random.uniform(0.93, 1.08), 3) if line.role == "user" else 1.0,
        variation=0.3 if line.steady else round(random.uniform(0.3, 0.7), 3),
    )


_Voices = tuple[Sequence[str], Sequence[str]]
"""Those of training, and those of the checks."""
_SYNTHETIC: _Voices = (voices.USERS, voices.HELD_OUT_USERS)
_NATURAL: _Voices = (voices.NATURAL_USERS, voices.HELD_OUT_NATURAL_USERS)
