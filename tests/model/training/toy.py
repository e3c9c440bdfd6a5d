"""A toy of the recipe: beeps for speech and a codec small enough to train in a second."""

from __future__ import annotations

import copy
import zlib
from typing import Any

import numpy as np

from audio.frames import SAMPLE_RATE, Samples
from model.training.corpus import Said
from model.training.plan import PlanSettings, Utterance, plan
from model.training.recipe import Recipe, Stage
from model.training.shape import MIMI_CONFIG
from model.training.texts import Domain, Topic
from model.training.word_spans import Word

FEATURES = 4
UNSEEN = ("Nobody ever said this.",)
WORDS = {
    "people": ["the cat", "Anna"],
    "verbs": ["saw", "took"],
    "moves": ["ran"],
    "adjectives": ["red", "old"],
    "things": ["hat", "cup"],
    "places": ["at home"],
    "times": ["today"],
    "numbers": ["two"],
    "plurals": ["hats"],
    "adverbs": ["slowly"],
    "plans": ["sing"],
    "reasons": ["it rained"],
    "animals": ["the dog"],
}
SETTINGS = PlanSettings(
    answer_takes=2, open_agent=10, user_takes=3, held_out_takes=2, open_user=10, natural=12
)
DOMAIN = Domain(
    intents=(
        Topic("greeting", ("hello", "hi"), ("good day",), ("Hello to you.", "Hi.")),
        Topic("goodbye", ("bye", "see you"), ("farewell",), ("Goodbye.", "So long.")),
    ),
    others=(Topic("silence", answers=("Still there?",)),),
)
STAGES = (
    Stage("joint", 8, 1, 1, 3e-3, decay_from=0.7, bypass_steps=4),
    Stage("decoder", 4, 1, 0, 1e-3, decay_from=0.5, decoder_only=True),
)
RECIPE = Recipe(STAGES, seed=7, crop_frames=3, encodings=1, start_batches=4)


def toy_config() -> dict[str, Any]:
    config = copy.deepcopy(MIMI_CONFIG)
    config["seanet"].update(n_filters=4, dimension=32)
    config["quantizer"].update(dimension=8, bins=16, input_dimension=32, output_dimension=32)
    config["transformer"].update(d_model=32, num_layers=1, dim_feedforward=32, num_heads=2)
    config["transformer"].update(input_dimension=32, output_dimensions=[32])
    return config


def toy_plan() -> list[Utterance]:
    return plan(SETTINGS, DOMAIN, WORDS, UNSEEN)


def say(utterance: Utterance) -> Said:
    """A beep; the agent's first word is known."""
    words = (Word(utterance.text.split()[0], 0.0, 0.2),) if utterance.role == "agent" else ()
    return Said(beep(utterance), words)


def beep(utterance: Utterance) -> Samples:
    """A tone whose pitch and length come from the text."""
    drawn = zlib.crc32(utterance.text.encode())
    length = SAMPLE_RATE // 2 + drawn % SAMPLE_RATE
    phase = np.arange(length) * (2 * np.pi * (200 + drawn % 700) / SAMPLE_RATE)
    return np.asarray(0.5 * np.sin(phase), dtype=np.float32)
