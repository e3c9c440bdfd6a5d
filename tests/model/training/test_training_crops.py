"""Training crops: drawn by their step alone, silent outside the speech, aligned with the teacher."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audio.frames import FRAME_SAMPLES
from model.training.crops import TEACHER_HOP as HOP
from model.training.crops import Batch, Clip, Pool, cut, draw
from tests.model.training.toy import FEATURES


def drawn(pool: Pool, seed: int) -> Batch:
    return draw(pool, np.random.default_rng(seed), agent=2, users=1, frames=6, answers_share=0.5)


def test_the_same_step_draws_the_same_batch(pool: Pool) -> None:
    first, again, other = drawn(pool, 1), drawn(pool, 1), drawn(pool, 2)
    assert np.array_equal(first.heard, again.heard)
    assert not np.array_equal(first.heard, other.heard)
    assert first.heard.shape == first.wanted.shape == (3, 6 * FRAME_SAMPLES)


def test_held_out_utterances_are_in_no_pool(pool: Pool) -> None:
    clips = [*pool.answers, *pool.open, *pool.users]
    assert {clip.spoken.utterance.split for clip in clips} == {"train"}


@pytest.mark.parametrize(("start", "wanted"), [(-2, [0, 0, 1, 2]), (1, [2, 3, 0, 0]), (9, [0, 0, 0, 0])])
def test_a_cut_is_silent_where_nothing_was_said(start: int, wanted: list[int]) -> None:
    assert cut(np.array([1, 2, 3], np.float32), start, 4).tolist() == wanted


def test_each_frame_is_taught_what_the_teacher_heard_in_it(pool: Pool) -> None:
    clip = pool.open[0]
    count = -(-len(clip.spoken.pcm) // HOP)
    marked = np.repeat(np.arange(count, dtype=np.float16)[:, None], FEATURES, axis=1)
    only = replace(pool, open=[Clip(clip.spoken, marked)], answers=[Clip(clip.spoken, marked)])
    batch = draw(only, np.random.default_rng(4), agent=1, users=0, frames=6, answers_share=0.0)
    told = batch.taught[0, batch.known[0] == 1, 0]
    assert len(told) >= 3
    assert (np.diff(told) == 4).all()  # a frame is four of the teacher's steps
    assert (batch.taught[0, batch.known[0] == 0] == 0).all()


def test_a_user_may_be_heard_as_another_speaker_and_the_teacher_still_keeps_time(pool: Pool) -> None:
    clip = pool.users[0]
    count = -(-len(clip.spoken.pcm) // HOP)
    marked = np.repeat(np.arange(count, dtype=np.float16)[:, None], FEATURES, axis=1)
    only = replace(pool, users=[Clip(clip.spoken, marked)], natural=[])
    paces = set()
    for seed in range(40):
        batch = draw(only, np.random.default_rng(seed), agent=0, users=1, frames=6, answers_share=0.0)
        told = batch.taught[0, batch.known[0] == 1, 0]
        paces.add(round(float(np.diff(told).mean()), 1))
    assert 4.0 in paces
    assert min(paces) < 3.9
    assert max(paces) > 4.1
