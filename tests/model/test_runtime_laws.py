"""The laws of a batch, for both runtimes, and both against moshi's own single stream.

Each trap of moshi's streaming modules that a batch can fall into is a law here.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from moshi.models import LMGen
from moshi.utils.compile import no_compile

from model.checkpoint import Loaded
from model.config import Sampling
from tests.model.conftest import CONTEXT
from tests.model.rows import Build, Call, Frames, play, poison, poison_past, sound, step

DRAWN = Sampling(seed=11)


def moshi_alone(loaded: Loaded, frames: Frames) -> tuple[list[list[int]], list[Frames]]:
    """What moshi.server does for its one caller (moshi/server.py, recv_loop), greedily."""
    mimi, gen = loaded.mimi, LMGen(loaded.lm, use_sampling=False)
    tokens_out, pcm_out = [], []
    with torch.no_grad(), no_compile(), mimi.streaming(1), gen.streaming(1):
        for n, frame in enumerate(frames):
            codes = mimi.encode(torch.from_numpy(frame)[None, None])
            if n == 0:
                mimi.reset_streaming()
            tokens = gen.step(codes)
            if tokens is not None:
                tokens_out.append(tokens[0, :, 0].tolist())
                pcm_out.append(mimi.decode(tokens[:, 1:])[0, 0].numpy())
    return tokens_out, pcm_out


def test_a_session_equals_moshis_own_single_stream_past_the_end_of_its_context(
    loaded: Loaded, build: Build
) -> None:
    frames = sound(1, 3 * CONTEXT)
    tokens, pcm = moshi_alone(loaded, frames)
    call = play(build(loaded, 3), Call(1, frames))
    assert len(tokens) == len(frames) - 1
    assert call.tokens[1:] == tokens
    assert max(np.abs(a - b).max() for a, b in zip(call.pcm[1:], pcm, strict=True)) < 1e-5


def test_what_the_user_says_changes_what_the_agent_says(loaded: Loaded, build: Build) -> None:
    """Otherwise every law about other sessions would hold for a deaf model."""
    runtime = build(loaded, 1)
    assert play(runtime, Call(0, sound(1, 12))).tokens != play(runtime, Call(0, sound(2, 12))).tokens


def test_the_first_frame_is_answered_by_silence_and_never_heard(loaded: Loaded, build: Build) -> None:
    runtime = build(loaded, 1)
    frames = sound(1, 8)
    other_start = frames.copy()
    other_start[0] = sound(9, 1)[0]
    call, other = play(runtime, Call(0, frames)), play(runtime, Call(0, other_start))
    assert not call.pcm[0].any()
    assert call.tokens[0] == [-1] * 9
    assert call.tokens == other.tokens


def test_a_session_draws_the_same_alone_and_in_a_full_batch_of_joins_and_leaves(
    loaded: Loaded, build: Build
) -> None:
    alone = play(build(loaded, 1), Call(0, sound(1, 40), DRAWN))
    runtime = build(loaded, 4)
    call = Call(2, sound(1, 40), DRAWN)
    runtime.join(2, DRAWN)
    others: dict[int, Call] = {}
    rng = random.Random(3)
    while not call.done:
        for slot in (0, 1, 3):
            if slot not in others and rng.random() < 0.4:
                others[slot] = Call(slot, sound(rng.randrange(999), rng.randrange(2, 9)), Sampling(seed=slot))
                runtime.join(slot, others[slot].sampling)
        speaking = [c for c in others.values() if rng.random() < 0.7]
        step(runtime, [*speaking, call] if rng.random() < 0.8 or not speaking else speaking)
        others = {slot: c for slot, c in others.items() if not c.done}
    assert call.tokens == alone.tokens


def test_two_hundred_joins_and_leaves_leave_four_running_calls_unchanged(
    loaded: Loaded, build: Build
) -> None:
    runtime = build(loaded, 6)
    quiet = [play(runtime, Call(slot, sound(slot, 100), DRAWN)) for slot in range(4)]
    calls = [Call(slot, sound(slot, 100), DRAWN) for slot in range(4)]
    for call in calls:
        runtime.join(call.slot, call.sampling)
    rng = random.Random(5)
    joins = 0
    for round_ in range(100):
        for slot in (4, 5):
            runtime.join(slot, Sampling(seed=joins))
            joins += 1
        guests = [Call(slot, sound(round_, 1)) for slot in (4, 5) if rng.random() < 0.8]
        step(runtime, rng.sample([*calls, *guests], len(calls) + len(guests)))
    assert joins == 200
    for call, alone in zip(calls, quiet, strict=True):
        assert call.tokens == alone.tokens
        assert max(np.abs(a - b).max() for a, b in zip(call.pcm, alone.pcm, strict=True)) < 1e-5


def test_a_join_costs_nobody_a_frame(loaded: Loaded, build: Build) -> None:
    """moshi's reset of one row zeroes a counter that all rows share (lm.py, _LMGenState.reset)."""
    runtime = build(loaded, 2)
    alone = play(runtime, Call(0, sound(1, 10)))
    call = Call(0, sound(1, 10))
    runtime.join(0, call.sampling)
    for n in range(10):
        if n in (1, 5, 6):
            runtime.join(1, call.sampling)
        step(runtime, [call])
    assert call.tokens == alone.tokens


def test_a_row_that_pauses_goes_on_where_it_was(loaded: Loaded, build: Build) -> None:
    runtime = build(loaded, 2)
    alone = play(runtime, Call(0, sound(1, 12)))
    call, other = Call(0, sound(1, 12)), Call(1, sound(2, 30))
    runtime.join(0, call.sampling)
    runtime.join(1, other.sampling)
    while not call.done:
        step(runtime, [other])
        step(runtime, [call, other])
    assert call.tokens == alone.tokens
    assert np.abs(call.pcm[-1] - alone.pcm[-1]).max() < 1e-5


def test_a_broken_session_poisons_neither_its_neighbour_nor_its_slots_next_owner(
    loaded: Loaded, build: Build
) -> None:
    runtime = build(loaded, 2)
    alone = [play(runtime, Call(slot, sound(slot, 10), DRAWN)) for slot in (0, 1)]
    victim, neighbour = Call(1, sound(7, 10)), Call(0, sound(0, 10), DRAWN)
    runtime.join(1, victim.sampling)
    runtime.join(0, neighbour.sampling)
    step(runtime, [victim, neighbour])
    step(runtime, [victim, neighbour])
    poison(runtime, 1)
    while not neighbour.done:
        step(runtime, [victim, neighbour])
    assert victim.finite == [True, True, *[False] * 8]
    assert all(neighbour.finite)
    assert neighbour.tokens == alone[0].tokens
    heir = play(runtime, Call(1, sound(1, 10), DRAWN))
    assert heir.tokens == alone[1].tokens
    assert all(heir.finite)


def test_numbers_that_break_in_the_language_model_alone_are_noticed(loaded: Loaded, build: Build) -> None:
    """A draw from NaN looks like any token, and its sound is finite."""
    runtime = build(loaded, 1)
    call = Call(0, sound(1, 6))
    runtime.join(0, call.sampling)
    step(runtime, [call])
    poison_past(runtime, 0)
    step(runtime, [call])
    assert call.finite == [True, False]


def test_sampling_is_each_rows_own(loaded: Loaded, build: Build) -> None:
    runtime = build(loaded, 3)
    sampled = Sampling(text_temperature=1.5, audio_temperature=1.5, text_top_k=0, audio_top_k=0, seed=4)
    calls = [Call(0, sound(1, 10)), Call(1, sound(1, 10), sampled), Call(2, sound(1, 10))]
    for call in calls:
        runtime.join(call.slot, call.sampling)
    for _ in range(10):
        step(runtime, calls)
    assert calls[0].tokens == calls[2].tokens
    assert calls[0].tokens != calls[1].tokens


@pytest.mark.parametrize("other_seed", [0, 2**40 + 11])
def test_the_same_seed_gives_the_same_call_and_another_seed_another(
    loaded: Loaded, build: Build, other_seed: int
) -> None:
    runtime = build(loaded, 1)
    first, again = (play(runtime, Call(0, sound(1, 10), DRAWN)) for _ in range(2))
    other = play(runtime, Call(0, sound(1, 10), Sampling(seed=other_seed)))
    assert first.tokens == again.tokens
    assert first.tokens != other.tokens
