"""Kernels compute what torch computes, alike for every row, and are compiled once for a machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from model.checkpoint import Loaded
from model.compact.kernels import arithmetic
from model.compact.kernels.compiler import helper
from model.compact.kernels.draws import draw
from model.compact.kernels.kernel import Kernel, Sheet
from model.compact.kernels.memory import at, floats
from model.compact.kernels.weights import PackedWeight
from model.compact.products import Matrix
from model.config import Sampling
from model.sampler import Noise, noise_keys, pick_tokens, seed_keys
from tests.model.rows import Call, build_compact, sound, step

SHAPES = [(1, 1), (1, 48), (7, 5), (16, 3), (64, 64), (130, 33), (200, 256)]
ROWS = [1, 2, 3, 4, 5, 7, 8, 37]


def weight(shape: tuple[int, int], exact: bool) -> Tensor:
    """exact: in bfloat16, as checkpoints are."""
    drawn = torch.randn(*shape, generator=torch.Generator().manual_seed(shape[0]))
    return drawn.bfloat16().float() if exact else drawn


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("exact", [True, False])
def test_a_product_is_torchs_up_to_rounding_for_every_shape(shape: tuple[int, int], exact: bool) -> None:
    matrix = Matrix(weight(shape, exact))
    for rows in ROWS:
        x, to = torch.randn(rows, shape[1]), torch.randn(rows, shape[0])
        expected = x.double() @ matrix.weight.double().t()
        rounding = 1e-6 * shape[1] ** 0.5 * float(x.abs().max() * matrix.weight.abs().max()) * 2
        assert (matrix.times(x) - expected).abs().max() < rounding
        assert (matrix.added(to, x) - expected - to).abs().max() < rounding + 1e-6
        assert (matrix.added(to[0], x) - expected - to[0]).abs().max() < rounding + 1e-6


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("exact", [True, False])
def test_a_rows_product_is_the_same_to_the_last_bit_whatever_rows_are_beside_it(
    shape: tuple[int, int], exact: bool
) -> None:
    matrix = Matrix(weight(shape, exact))
    x = torch.randn(max(ROWS), shape[1])
    together = matrix.times(x)
    for rows in ROWS:
        for first in range(0, max(ROWS) - rows + 1, rows):
            part = slice(first, first + rows)
            assert torch.equal(matrix.times(x[part]), together[part])


@pytest.mark.parametrize("shape", SHAPES)
def test_half_of_a_weights_bits_are_left_out_only_where_they_are_zero(shape: tuple[int, int]) -> None:
    exact = weight(shape, exact=True)
    broken = exact.clone()
    broken[-1, -1] += broken[-1, -1] * 2**-12
    for given, halved in ((exact, True), (broken, False)):
        assert PackedWeight(given).halved is halved
        columns = Matrix(given).times(torch.eye(shape[1]))
        assert torch.equal(columns, given.t())  # not a bit of it is lost


def test_a_packed_weight_of_a_checkpoint_takes_half_of_what_it_took() -> None:
    exact = weight((256, 128), exact=True)
    assert PackedWeight(exact).nbytes == exact.nbytes / 2
    assert PackedWeight(exact * 1.1).nbytes == exact.nbytes


def test_a_product_with_what_is_none_is_none() -> None:
    x = torch.randn(3, 256)
    x[1, 5] = torch.nan
    for exact in (True, False):
        y = Matrix(weight((200, 256), exact)).times(x)
        assert y.isnan().all(dim=1).tolist() == [False, True, False]


def _every_function(address: int) -> None:
    """(count, x, then what each function makes of it [4, count])"""
    count = at(address, 0)
    x, y = floats(at(address, 1), count), floats(at(address, 2), 4 * count)
    for i in range(count):
        y[i], y[count + i] = arithmetic.exp(x[i]), arithmetic.silu(x[i])
        y[2 * count + i], y[3 * count + i] = arithmetic.gelu(x[i]), arithmetic.elu(x[i])


every_function = Kernel(_every_function)


def test_functions_of_a_number_are_torchs_to_a_millionth() -> None:
    x = torch.linspace(-20, 20, 10_001)
    y = torch.empty(4, len(x))
    every_function(len(x), x, y)
    functions: list[Callable[[Tensor], Tensor]] = [torch.exp, F.silu, F.gelu, F.elu]
    for found, function in zip(y, functions, strict=True):
        expected = function(x.double())
        assert ((found - expected).abs() <= 1e-6 * expected.abs().clamp(min=1)).all()
    every_function(1, torch.tensor([torch.nan]), y)
    assert y.flatten()[:4].isnan().all()


def _drawn(address: int) -> None:
    """(sheet, book, logits, rows, tokens, bytes from one to the next, room)"""
    draw(*_seven(address))


@helper
def _seven(address: int) -> tuple[int, int, int, int, int, int, int]:
    first = at(address, 0), at(address, 1), at(address, 2), at(address, 3)
    return (*first, at(address, 4), at(address, 5), at(address, 6))


drawn = Kernel(_drawn)


@pytest.mark.parametrize("card", [3, 64, 640])
def test_a_draw_is_the_samplers(card: int) -> None:
    wanted = [1, 2, 3, card - 1, card, 1, card]
    heat = [0.1, 1.0, 0.7, 1.3, 2.0, 0.0, 0.0]
    rows = len(wanted)
    temperature, place = torch.tensor(heat), torch.tensor(wanted) - 1
    token, room = torch.empty(rows, 2, dtype=torch.int64), torch.empty(card, dtype=torch.int32)
    for frame in range(40):
        logits = torch.randn(rows, card, generator=torch.Generator().manual_seed(frame))
        if frame % 2:
            logits = (logits * 4).round()  # ties, of which many with the last candidate
        keys = noise_keys(seed_keys(np.arange(rows)), np.full(rows, frame), 3)
        noise = Noise(card, torch.device("cpu"))(torch.from_numpy(keys.view(np.int32)))[:, 2]
        sheet = Sheet(temperature, place, keys.astype(np.int64), 3, card)
        drawn(sheet, 2, logits, rows, token[:, 1:], 16, room)
        assert torch.equal(token[:, 1], pick_tokens(logits, noise, temperature, torch.tensor(wanted)))


def test_a_sessions_sound_is_the_same_to_the_last_bit_alone_and_beside_others(loaded: Loaded) -> None:
    samplings = [Sampling(seed=n) for n in range(5)]
    alone = [Call(0, sound(n, 30), samplings[n]) for n in range(5)]
    for call in alone:
        runtime = build_compact(loaded, 1)
        runtime.join(0, call.sampling)
        while not call.done:
            step(runtime, [call])
    runtime = build_compact(loaded, 5)
    together = [Call(n, sound(n, 30), samplings[n]) for n in range(5)]
    for call in together:
        runtime.join(call.slot, call.sampling)
    for n in range(2 * 30):  # they fall out of step
        some = [call for call in together if not call.done and (n + call.slot) % 3 != 0]
        if some:
            step(runtime, some)
    while not all(call.done for call in together):
        step(runtime, [call for call in together if not call.done])
    for one, other in zip(alone, together, strict=True):
        assert one.tokens == other.tokens
        assert np.array_equal(np.stack(one.pcm), np.stack(other.pcm))


START = """
import logging, torch
logging.basicConfig(level=logging.INFO, format="%(message)s")
from model.compact.kernels.kernel import tell
from model.compact.products import Matrix
weight = torch.arange(6.0).view(2, 3)
print(Matrix(weight).times(torch.ones(1, 3)).tolist())
tell()
"""


def start(cache: Path) -> str:
    """What a fresh process says that multiplies by a kernel."""
    environment = os.environ | {"XDG_CACHE_HOME": str(cache), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", START], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[[3.0, 12.0]]\n"
    return done.stderr


def test_what_one_start_compiled_the_next_one_finds(tmp_path: Path) -> None:
    said = start(tmp_path)
    assert "compiling kernels for this processor, once: this takes some seconds" in said
    assert "compiled 2 kernels for this processor in " in said
    assert start(tmp_path) == ""


def test_where_nothing_can_be_kept_every_start_compiles(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for _ in range(2):
        said = start(file)
        assert "the CPU's kernels are compiled at every start, for some seconds: " in said
        assert "compiled 2 kernels for this processor in " in said


def test_a_damaged_kernel_is_compiled_anew(tmp_path: Path) -> None:
    start(tmp_path)
    for path in tmp_path.rglob("*.nbc"):
        path.write_bytes(path.read_bytes()[:-40])
    said = start(tmp_path)
    assert "compiled kernels were damaged or not all there: compiling them anew" in said
    assert "compiled 2 kernels for this processor in " in said
