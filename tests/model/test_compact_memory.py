"""What a session adds in memory is what is stated, and it is flat once its context is full."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import torch

from audio.frames import FRAME_SAMPLES
from model.checkpoint import Loaded
from model.compact.runtime import CompactRuntime
from model.config import Sampling
from tests.model.conftest import CONTEXT
from tests.model.rows import Build, build_compact, build_padded, sound


def tensor_bytes() -> int:
    """Of every tensor that anybody holds."""
    gc.collect()
    storages = {
        tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
        for tensor in gc.get_objects()
        if issubclass(type(tensor), torch.Tensor)
    }
    return sum(storages.values())


def test_a_place_takes_what_the_capacity_command_states(loaded: Loaded) -> None:
    stated = CompactRuntime.session_bytes(loaded.mimi, loaded.lm)
    sizes, kept = [], []
    for capacity in (1, 5, 9):  # the first joins the checkpoint's embeddings
        before = tensor_bytes()
        kept.append(build_compact(loaded, capacity))
        sizes.append(tensor_bytes() - before)
    added = (sizes[2] - sizes[1]) / 4
    assert abs(added - stated) < 0.02 * stated


def test_calls_past_their_context_and_two_hundred_joins_add_nothing(loaded: Loaded) -> None:
    runtime = build_compact(loaded, 4)
    frames = sound(1, 4)

    def talk(steps: int) -> None:
        for n in range(steps):
            if n % 2:
                runtime.join(3, Sampling(seed=n))
            rows = [[0, 1, 2, 3], [0, 2], [1], [3, 0, 1]][n % 4]
            runtime.step(rows, frames[: len(rows)])

    for row in range(4):
        runtime.join(row, Sampling(seed=row))
    talk(3 * CONTEXT)
    before = tensor_bytes()
    talk(400)
    assert tensor_bytes() == before


def test_the_first_step_of_a_number_of_rows_is_the_only_one_that_adds_memory(loaded: Loaded) -> None:
    runtime = build_compact(loaded, 3)
    runtime.measure(1)  # sees every number of rows
    before = tensor_bytes()
    for rows in (1, 2, 3, 2, 1):
        runtime.step(range(rows), np.zeros((rows, FRAME_SAMPLES), np.float32))
    assert tensor_bytes() == before


@pytest.mark.parametrize("build", [build_compact, build_padded])
def test_every_place_has_its_whole_context_whatever_the_others_took(loaded: Loaded, build: Build) -> None:
    """Why admission counts places and no pages."""
    runtime = build(loaded, 3)
    frames = sound(5, 3)
    for row in range(3):
        runtime.join(row, Sampling(seed=row))
    for n in range(2 * CONTEXT):
        rows = [0, 1] if n < CONTEXT + 5 else [2, 1, 0]  # the last one begins when the others are full
        if n == CONTEXT + 8:
            runtime.join(0, Sampling(seed=9))
        assert runtime.step(rows, frames[: len(rows)]).finite.all()
