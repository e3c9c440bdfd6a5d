"""Which utterances the data is made of: every text, voice and manner of speaking, before any sound.

Pure: the same settings give the same plan, on any machine. Refuses to know synthesisers and files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from random import Random
from typing import Literal

from model.training import voices
from model.training.phrasings import halves, kept_apart, variant
from model.training.sentences import sentences
from model.training.texts import BACKCHANNEL, SILENCE, Domain, Topic

Role = Literal["agent", "user"]
Split = Literal["train", "held_out"]
OPEN = "open"
"""The topic of sentences that belong to no intent."""


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """takes: renderings of one text. open: how many sentences of the open vocabulary.

    wrapped: the share of a phrasing's takes in training with something around it ("could you ...").
    held_out_new_takes: of the phrasings that training does not hear.
    natural: training utterances of the neural voices in all, `natural_open` of them open sentences;
    natural_halting: the share in which such a voice may hesitate at a comma.
    natural_held_out_known: phrasings a topic that such voices of the checks say, of those in training.
    """

    seed: int = 20261129
    answer_takes: int = 3
    open_agent: int = 900
    user_takes: int = 20
    wrapped: float = 0.5
    held_out_takes: int = 2
    held_out_new_takes: int = 6
    open_user: int = 1200
    natural: int = 2400
    natural_open: float = 0.08
    natural_halting: float = 0.2
    natural_held_out_known: int = 5


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
    """Every utterance in order; `unseen` are the agent's held-out sentences.

    First what the language model needs, the answers and the slow voices; then what the codec needs besides.
    """
    never = frozenset(unseen)
    open_agent = sentences(settings.open_agent, f"{settings.seed} agent", words, never)
    open_user = open_texts(settings, words, unseen)
    agent = (voices.AGENT,)
    lines = [
        _Line("agent", "train", topic.name, text, True, settings.answer_takes, agent, steady=True)
        for topic in domain.topics
        for text in topic.answers
    ]
    requests = domain.known
    for topic in domain.topics:
        lines += _natural_held_out(topic, settings, requests)
        lines += _natural_dev(topic)
    kept = kept_apart(frozenset(text for topic in domain.topics for text in topic.held_out))
    lines += _natural(domain, settings, kept, open_user)
    lines += [_Line("agent", "train", OPEN, text, True, 1, agent) for text in open_agent]
    lines += [_Line("agent", "held_out", OPEN, text, False, 1, agent) for text in unseen]
    for topic in domain.topics:
        lines += _requests(topic, settings, kept)
    lines += [_Line("user", "train", OPEN, text, True, 1, voices.USERS) for text in open_user]
    spoken = [line for line in lines for _ in range(line.takes)]
    return [_utterance(number, line, settings.seed) for number, line in enumerate(spoken)]


def open_texts(settings: PlanSettings, words: dict[str, list[str]], unseen: Sequence[str]) -> list[str]:
    """Sentences of users that belong to no intent."""
    return sentences(settings.open_user, f"{settings.seed} user", words, frozenset(unseen))


_Kept = frozenset[tuple[str, ...]]


def _requests(topic: Topic, settings: PlanSettings, kept: _Kept) -> Iterator[_Line]:
    """In training each take of a phrasing may have something around it; in the checks none has."""
    for text in topic.phrasings:
        random = Random(f"{settings.seed} around {text}")
        for _ in range(settings.user_takes):
            said = _around(random, topic, text, settings, kept)
            yield _Line("user", "train", topic.name, said, True, 1, voices.USERS)
        takes = settings.held_out_takes
        yield _Line("user", "held_out", topic.name, text, True, takes, voices.HELD_OUT_USERS)
    for text in topic.held_out:
        takes = settings.held_out_new_takes
        yield _Line("user", "held_out", topic.name, text, False, takes, voices.HELD_OUT_USERS)


def _natural_held_out(topic: Topic, settings: PlanSettings, known: Set[str]) -> Iterator[_Line]:
    """The last take of a new phrasing may stop at a comma."""
    who = voices.HELD_OUT_NATURAL_USERS
    random = Random(f"{settings.seed} natural {topic.name}")
    heard = random.sample(topic.phrasings, min(len(topic.phrasings), settings.natural_held_out_known))
    for text in heard:
        yield _Line("user", "held_out", topic.name, text, True, 1, who)
    for text in topic.held_out:
        yield _Line("user", "held_out", topic.name, text, False, settings.held_out_takes, who)
        if _is_request(topic) and (halting := halves(random, text, known)):
            yield _Line("user", "held_out", topic.name, halting, False, 1, who)


def _natural_dev(topic: Topic) -> Iterator[_Line]:
    for text in topic.dev:
        yield _Line("user", "train", topic.name, text, True, 1, voices.DEV_NATURAL_USERS)


def _natural(
    domain: Domain, settings: PlanSettings, kept: _Kept, open_user: Sequence[str]
) -> Iterator[_Line]:
    """Topics in turn, each going through its phrasings: any part of them is a fair sample."""
    random = Random(f"{settings.seed} natural")
    heard = {
        topic.name: [text for text in topic.phrasings if text not in topic.dev] for topic in domain.topics
    }
    spoken = [topic for topic in domain.topics if heard[topic.name]]
    orders = {topic.name: random.sample(heard[topic.name], len(heard[topic.name])) for topic in spoken}
    for number in range(settings.natural):
        topic = spoken[number % len(spoken)]
        name, order = topic.name, orders[topic.name]
        text = _around(random, topic, order[number // len(spoken) % len(order)], settings, kept)
        if random.random() < settings.natural_open:
            name, text = OPEN, random.choice(open_user)
        elif _is_request(topic) and random.random() < settings.natural_halting:
            text = halves(random, text, domain.known) or text
        yield _Line("user", "train", name, text, True, 1, (voices.natural(random),))


def _around(random: Random, topic: Topic, text: str, settings: PlanSettings, kept: _Kept) -> str:
    return variant(random, text, kept) if _is_request(topic) and random.random() < settings.wrapped else text


def _is_request(topic: Topic) -> bool:
    return topic.name not in (BACKCHANNEL, SILENCE)


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
        resample=round(random.uniform(0.92, 1.1), 3) if line.role == "user" else 1.0,
        variation=0.3 if line.steady else round(random.uniform(0.3, 0.7), 3),
    )
