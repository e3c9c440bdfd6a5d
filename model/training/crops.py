"""Short crops of speech to train on, drawn by (seed, stage, step): a resumed run sees the same.

Pure numpy; knows spoken utterances and their teacher's features, not the codec.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audio.frames import FRAME_SAMPLES, Samples
from model.training import vary
from model.training.corpus import Spoken
from model.training.plan import OPEN
from model.training.voices import is_natural

AGENT_GAIN_DB = (-4.0, 2.0)
AGENT_GAIN_CHANCE = 0.3
DITHER = 2e-5
NATURAL_SHARE = 0.25
"""Of the users' crops, at least: they sound most like people and are few."""
OTHER_SPEAKER_CHANCE = 0.4
"""Of a user's crop: how often it is heard faster and higher, or slower and deeper."""
BEFORE = 0.25
"""Of a crop: the most silence before the first word and after the last."""
TEACHER_HOP = 480
"""Samples between the teacher's features (50 Hz)."""


@dataclass(frozen=True, slots=True)
class Clip:
    """An utterance and what the teacher heard in it: float16 [length / TEACHER_HOP, features]."""

    spoken: Spoken
    features: npt.NDArray[np.float16] | None


@dataclass(frozen=True, slots=True)
class Batch:
    """heard: what is encoded. wanted: what should come out. [crops, samples], float32.

    taught: the teacher's features a frame, [crops, frames, features]. known: [crops, frames], 1
    where there are any. The agent's crops come first.
    """

    heard: npt.NDArray[np.float32]
    wanted: npt.NDArray[np.float32]
    taught: npt.NDArray[np.float32]
    known: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Pool:
    """The training clips by who speaks; held-out utterances are not in it."""

    answers: Sequence[Clip]
    open: Sequence[Clip]
    users: Sequence[Clip]
    natural: Sequence[Clip]
    features: int

    @staticmethod
    def of(clips: Sequence[Clip], features: int) -> Pool:
        trained = [clip for clip in clips if clip.spoken.utterance.split == "train"]
        agent = [clip for clip in trained if clip.spoken.utterance.role == "agent"]
        users = [clip for clip in trained if clip.spoken.utterance.role == "user"]
        return Pool(
            answers=[clip for clip in agent if clip.spoken.utterance.topic != OPEN],
            open=[clip for clip in agent if clip.spoken.utterance.topic == OPEN],
            users=users,
            natural=[clip for clip in users if is_natural(clip.spoken.utterance.voice)],
            features=features,
        )

    def agent_clip(self, random: np.random.Generator, answers_share: float) -> Clip:
        return pick(random, self.answers if random.random() < answers_share else self.open)

    def user_clip(self, random: np.random.Generator) -> Clip:
        wanted = random.random() < NATURAL_SHARE
        return pick(random, self.natural if wanted and self.natural else self.users)


def pick(random: np.random.Generator, clips: Sequence[Clip]) -> Clip:
    return clips[int(random.integers(len(clips)))]


def draw(
    pool: Pool, random: np.random.Generator, *, agent: int, users: int, frames: int, answers_share: float
) -> Batch:
    """One training batch: `agent` crops of the agent, then `users` of the users."""
    rows = []
    for row in range(agent + users):
        is_agent = row < agent
        clip = pool.agent_clip(random, answers_share) if is_agent else pool.user_clip(random)
        length = frames * FRAME_SAMPLES
        start = _start(random, len(clip.spoken.pcm), length)
        other = not is_agent and random.random() < OTHER_SPEAKER_CHANCE
        speed = random.uniform(*vary.SPEED) if other else 1.0
        sound = cut(clip.spoken.samples(), start, round(length * speed) + other)
        sound = vary.at_speed(sound, speed)[:length] if other else sound
        wanted = _agent(random, sound) if is_agent else vary.voice_of_a_user(random, sound)
        heard = wanted if is_agent else wanted + vary.noise(random, length)
        dither = random.standard_normal(length, dtype=np.float32) * np.float32(DITHER)
        rows.append(
            (np.clip(heard + dither, -1, 1), wanted, *_taught(clip, start, speed, frames, pool.features))
        )
    return Batch(*(np.stack(column) for column in zip(*rows, strict=True)))


def cut(samples: Samples, start: int, length: int) -> Samples:
    """`length` samples from `start`, which may lie outside: silence there."""
    out = np.zeros(length, np.float32)
    first, last = max(0, start), min(len(samples), start + length)
    out[first - start : last - start] = samples[first:last]
    return out


def _start(random: np.random.Generator, total: int, length: int) -> int:
    """Anywhere, as long as the crop is mostly speech."""
    margin = int(length * BEFORE)
    return int(random.integers(-margin, max(1, total - length + margin)))


def _agent(random: np.random.Generator, sound: Samples) -> Samples:
    if random.random() < AGENT_GAIN_CHANCE:
        sound = np.asarray(sound * vary.decibels(random.uniform(*AGENT_GAIN_DB)), dtype=np.float32)
    return sound


def _taught(
    clip: Clip, start: int, speed: float, frames: int, features: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """The mean of the teacher's steps in each frame, and whether it has all of them."""
    taught = np.zeros((frames, features), np.float32)
    known = np.zeros(frames, np.float32)
    if clip.features is None:
        return taught, known
    each = FRAME_SAMPLES // TEACHER_HOP
    for frame in range(frames):
        at = round((start + frame * speed * FRAME_SAMPLES) / TEACHER_HOP)
        if at >= 0 and at + each <= len(clip.features):
            taught[frame] = clip.features[at : at + each].astype(np.float32).mean(axis=0)
            known[frame] = 1.0
    return taught, known
