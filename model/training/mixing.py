"""The user's channel of a conversation as sound: one user in one room on one line, from start to end.

Voices, side sounds, the noise of the place, and the agent's own voice coming back as an echo.
Seeded numpy; refuses to know codecs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, Samples
from model.training import vary
from model.training.crops import cut
from model.training.dialogue import Dialogue, Said
from model.training.throats import Throat, said_by

ECHO_CHANCE = 0.5
ECHO_DB = (-45.0, -18.0)
ECHO_DELAY_S = (0.09, 0.4)
"""One frame of the model's own lag, then the way through the air and two sound cards."""
SIDE_DB = (-26.0, -4.0)
QUIET_CHANCE = 0.15
QUIET_DB = (-12.0, -4.0)
THROAT_CHANCE = 0.75
COLOUR_HZ = (100.0, 10_000.0)
COLOUR_NODES = 7
COLOUR_DB = 4.0
"""Standard deviation of the emphasis at each node."""


@dataclass(frozen=True, slots=True)
class Place:
    """What stays the same for a whole call. echo: a factor, 0 without one."""

    voice_seed: int
    gain: float
    echo: float
    echo_delay: int

    @staticmethod
    def draw(random: np.random.Generator) -> Place:
        return Place(
            voice_seed=int(random.integers(2**31)),
            gain=vary.decibels(random.uniform(*QUIET_DB)) if random.random() < QUIET_CHANCE else 1.0,
            echo=vary.decibels(random.uniform(*ECHO_DB)) if random.random() < ECHO_CHANCE else 0.0,
            echo_delay=int(random.uniform(*ECHO_DELAY_S) * SAMPLE_RATE),
        )


def user_channel(random: np.random.Generator, dialogue: Dialogue, place: Place) -> Samples:
    """float32 [frames * 1920]."""
    length = dialogue.frames * FRAME_SAMPLES
    channel = vary.noise(random, length)
    for placed in dialogue.user:
        clip = placed.heard.clip
        if isinstance(clip, np.ndarray):
            sound = clip * np.float32(vary.decibels(random.uniform(*SIDE_DB)))
        else:
            sound = _heard(place, clip.samples) * np.float32(place.gain)
        _add(channel, sound, placed.start)
    if place.echo:
        back = vary.in_a_room(random, agent_channel(dialogue.agent, dialogue.frames))
        _add(channel, back * np.float32(place.echo), place.echo_delay)
    return np.clip(channel, -1, 1)


def _heard(place: Place, samples: Samples) -> Samples:
    """The same throat, room and line each time."""
    voice = np.random.default_rng(place.voice_seed)
    if voice.random() < THROAT_CHANCE:
        breath = np.random.default_rng([place.voice_seed, len(samples)])  # takes more of it for longer clips
        samples = said_by(Throat.draw(voice), breath, samples)
    return vary.voice_of_a_user(voice, coloured(voice, samples))


def coloured(random: np.random.Generator, samples: Samples) -> Samples:
    """With a smooth random emphasis over frequency, as of another throat and microphone."""
    size = 1 << len(samples).bit_length()
    spectrum = np.fft.rfft(samples, size)
    octaves = np.log2(np.maximum(np.arange(len(spectrum)) * SAMPLE_RATE / size, COLOUR_HZ[0]))
    low, high = np.log2(COLOUR_HZ)
    nodes = np.linspace(float(low), float(high), COLOUR_NODES)
    gains_db = random.normal(0, COLOUR_DB, COLOUR_NODES)
    spectrum *= 10 ** (np.interp(octaves, nodes, gains_db - gains_db.mean()) / 20)
    return np.asarray(np.fft.irfft(spectrum, size)[: len(samples)], dtype=np.float32)


def agent_channel(said: Sequence[Said], frames: int) -> Samples:
    """The agent's own sound, cut where it was talked over."""
    channel = np.zeros(frames * FRAME_SAMPLES, np.float32)
    for item in said:
        sound = item.answer.take.samples
        _add(channel, sound[: (item.end - item.start) * FRAME_SAMPLES], item.start * FRAME_SAMPLES)
    return channel


def _add(channel: Samples, sound: Samples, start: int) -> None:
    if start < len(channel):
        channel += cut(sound, -start, len(channel))
