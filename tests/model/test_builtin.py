"""The model that comes with Duet, as the server opens it: it is there, it is small, and it converses.

The requests in `requests/` are spoken by synthetic voices that its training never heard (flite awb,
espeak-ng variants, Kokoro jf_nezumi), most of them in phrasings that it never heard either; a file's
name is the intent.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from audio.frames import FRAME_RATE, FRAME_SAMPLES, SAMPLE_RATE, Samples
from model.checkpoint import BUILTIN, DEFAULT, Loaded, load
from model.training.calls import Call, Reply, Switchboard
from model.training.texts import domain
from model.training.verdicts import Activity, topic_of

REQUESTS = sorted((Path(__file__).parent / "requests").glob("*.flac"))
LEAD_S = 0.8
ANSWER_S = 4.0


@pytest.fixture(scope="module")
def builtin() -> Loaded:
    torch.set_num_threads(1)
    return load(DEFAULT, "cpu", torch.float32)


@pytest.fixture(scope="module")
def calls() -> list[Call]:
    return [Call(around(*soundfile.read(path, dtype="float32")), seed) for seed, path in enumerate(REQUESTS)]


@pytest.fixture(scope="module")
def board(builtin: Loaded) -> Switchboard:
    return Switchboard(builtin, len(REQUESTS))


@pytest.fixture(scope="module")
def replies(board: Switchboard, calls: list[Call]) -> list[Reply]:
    return board.carry(calls, lambda _: None)


def around(request: Samples, rate: int) -> Samples:
    """The request in a quiet room, with time to answer."""
    assert rate == SAMPLE_RATE
    frames = int((LEAD_S + len(request) / SAMPLE_RATE + ANSWER_S) * FRAME_RATE)
    room = np.random.default_rng(0).standard_normal(frames * FRAME_SAMPLES, dtype=np.float32) * 1e-4
    start = int(LEAD_S * SAMPLE_RATE)
    room[start : start + len(request)] += request
    return room


def test_it_is_trained_whole_and_small() -> None:
    assert sum(path.stat().st_size for path in BUILTIN.iterdir()) <= 30e6
    assert {"config.json", "README.md"} <= {path.name for path in BUILTIN.iterdir()}


def test_it_names_itself_and_is_not_called_untrained(builtin: Loaded) -> None:
    assert (builtin.info.name, builtin.info.trained) == ("duet-minny", True)


def test_it_answers_most_of_what_strangers_ask_with_the_right_words(replies: list[Reply]) -> None:
    answers = {topic.name: topic.answers for topic in domain().topics if topic.answers}
    right = [
        topic_of(reply.said(), answers) == path.stem for path, reply in zip(REQUESTS, replies, strict=True)
    ]
    assert sum(right) >= LEAST_RIGHT, dict(zip((path.stem for path in REQUESTS), right, strict=True))


def test_it_waits_for_the_users_end_and_then_speaks(replies: list[Reply], calls: list[Call]) -> None:
    waited = spoke = 0
    for call, reply in zip(calls, replies, strict=True):
        activity = Activity.of(reply.samples)
        end_s = len(call.samples) / SAMPLE_RATE - ANSWER_S
        waited += activity.within(0.0, end_s - 0.2) == 0.0
        begun_s = activity.first(end_s - 0.2, end_s + 2.0)  # where it is not sure it waits for 1.2 s
        spoke += begun_s is not None and activity.within(begun_s, begun_s + 0.6) > 0.3
    assert min(waited, spoke) >= len(calls) - 2


def test_nobody_speaking_it_keeps_silent_for_some_seconds(board: Switchboard) -> None:
    quiet = np.zeros(int(4 * FRAME_RATE) * FRAME_SAMPLES, np.float32)
    reply = board.carry([Call(quiet, 0)], lambda _: None)[0]
    assert not Activity.of(reply.samples).active.any()


LEAST_RIGHT = 12
"""Of 16, where guessing gets one. It was 15 when it shipped; other machines round differently."""
