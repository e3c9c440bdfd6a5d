"""A recorded function answers as if it had been called, whatever its inputs hold by then."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from model.compact.kernels.products import product
from model.compact.kernels.weights import PackedWeight
from model.compact.recording import Arena, HostRead, Recorded, Recorder, Recording

GAIN = torch.linspace(0.5, 1.5, 8)


def every_kind(x: Tensor, memory: Tensor) -> Tensor:
    """Views, writes into a memory, operations with and without an output of their own, and a tuple."""
    memory[:, :4] += x[:, 4:]
    y = torch.cat([x, memory], dim=1).view(len(x), 2, 8).transpose(1, 2).reshape(len(x), -1)
    y = F.layer_norm(y[:, :8], (8,), GAIN, GAIN, 1e-5) + F.silu(y[:, 8:])
    best, place = y.topk(2, dim=1)
    total = F.embedding(place, GAIN[:, None])[..., 0].sum(dim=1, keepdim=True)
    return torch.softmax(y, dim=1) * total + best[:, :1].to(torch.float64).float()


def record(x: Tensor, memory: Tensor, arena: Arena) -> tuple[Tensor, Recording]:
    with torch.inference_mode():
        with Recorder() as recorder:
            output = every_kind(x, memory)
        return output, Recording(recorder.calls, [output], arena)


def test_a_replay_computes_on_what_its_inputs_and_memory_hold_by_then() -> None:
    x, memory = torch.randn(3, 8), torch.zeros(3, 8)
    twin = memory.clone()
    first, recording = record(x, memory, Arena())
    assert torch.equal(first, every_kind(x, twin))
    for _ in range(3):
        x.copy_(torch.randn(3, 8))
        with torch.inference_mode():
            (found,) = recording.replay()
        assert torch.equal(found, every_kind(x, twin))
        assert torch.equal(memory, twin)


def test_an_output_stays_while_another_recording_of_the_same_arena_is_replayed() -> None:
    arena = Arena()
    x, other = torch.randn(2, 8), torch.randn(5, 8)
    _, recording = record(x, torch.zeros(2, 8), arena)
    _, second = record(other, torch.zeros(5, 8), arena)
    with torch.inference_mode():
        (found,) = recording.replay()
        before = found.clone()
        second.replay()
    assert torch.equal(found, before)


def test_memory_is_given_on_as_soon_as_nobody_reads_it_any_more() -> None:
    x = torch.ones(1000)

    def chain() -> Tensor:
        y = x
        for _ in range(50):
            y = y + 1
        return y

    with torch.inference_mode():
        with Recorder() as recorder:
            output = chain()
        arena = Arena()
        (found,) = Recording(recorder.calls, [output], arena).replay()
    assert found.tolist() == [51.0] * 1000
    assert len(arena.take(0)) <= 2 * 4096


def test_what_is_live_is_asked_again_at_every_replay() -> None:
    x, asked = torch.zeros(2), [1.0]

    def answer(target: Tensor) -> None:
        target.fill_(asked[0])

    with torch.inference_mode():
        with Recorder() as recorder:
            target = torch.empty(2)
            recorder.live(answer, target)
            output = x + target
        recording = Recording(recorder.calls, [output], Arena())
        assert output.tolist() == [1.0, 1.0]
        asked[0] = 5.0
        assert recording.replay()[0].tolist() == [5.0, 5.0]


def test_a_function_within_a_recording_may_be_a_recording_of_its_own() -> None:
    x = torch.ones(4)
    doubled = Recorded(lambda: x * 2)
    found = []

    def ask(target: Tensor) -> None:
        target.copy_(doubled())

    with torch.inference_mode():
        with Recorder() as recorder:
            target = torch.empty(4)
            recorder.live(ask, target)
            output = target + 1
        recording = Recording(recorder.calls, [output], Arena())
        for value in (1.0, 3.0, 4.0):
            x.fill_(value)
            found.append(recording.replay()[0].tolist())
    assert found == [[2 * value + 1] * 4 for value in (1.0, 3.0, 4.0)]


def test_a_failure_leaves_the_recorder_and_torch_as_they_were() -> None:
    recorder = Recorder()
    with pytest.raises(RuntimeError), recorder:
        torch.ones(2) @ torch.ones(3)
    count = len(recorder.calls)
    torch.ones(2).add_(1)
    assert len(recorder.calls) == count


@pytest.mark.parametrize(
    ("read", "named"),
    [
        (lambda x: x.sum().item(), "_local_scalar_dense"),
        (lambda x: 1 if x[0] > 0 else 2, "_local_scalar_dense"),
        (lambda x: x.nonzero(), "nonzero"),
        (lambda x: x[x > 0], "index"),
        (lambda x: torch.equal(x, x), "equal"),
        (lambda x: x.tolist(), "tolist"),
        (lambda x: x.numpy(), "numpy"),
        (np.asarray, "__array__"),
    ],
)
def test_a_look_at_numbers_is_refused_by_name(read: Callable[[Tensor], object], named: str) -> None:
    x = torch.ones(3)
    refused = pytest.raises(HostRead, match=rf"{named} reads numbers .* goes to `live`")
    with torch.inference_mode(), refused, Recorder():
        read(x)
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_a_kernel_is_replayed_where_the_recording_has_put_its_tensors() -> None:
    x, weight = torch.randn(3, 8), PackedWeight(torch.randn(5, 8))

    def twice() -> Tensor:
        found = x
        for _ in range(2):
            y = torch.empty(3, 5)
            product(weight.sheet, found, 32, 3, y, 0, 0)
            found = torch.cat([y, y], dim=1)[:, :8].contiguous()
        return found * 2

    with torch.inference_mode():
        with Recorder() as recorder:
            output = twice()
        recording = Recording(recorder.calls, [output], Arena())
        for _ in range(3):
            x.copy_(torch.randn(3, 8))
            assert torch.equal(recording.replay()[0], twice())


def test_what_is_live_may_look_at_numbers() -> None:
    x, seen = torch.ones(2), []
    with torch.inference_mode(), Recorder() as recorder:
        recorder.live(lambda tensor: seen.append((tensor.sum().item(), tensor.tolist())), x)
    assert seen == [(2.0, [1.0, 1.0])]


def test_places_known_beforehand_may_be_looked_up() -> None:
    x, places = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([2, 0])
    with torch.inference_mode(), Recorder() as recorder:
        output = x[places]
    with torch.inference_mode():
        recording = Recording(recorder.calls, [output], Arena())
        places.copy_(torch.tensor([1, 2]))
        assert recording.replay()[0].tolist() == [2.0, 3.0]
