"""The number of threads is the one that was quickest when tried."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from model.threads import candidates, choose


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("cores", "threads"), [(1, (1,)), (2, (1,)), (4, (1, 2, 3)), (8, (1, 2, 4, 7)), (9, (1, 2, 4, 8))]
)
def test_one_core_is_left_and_the_others_are_tried_doubling(cores: int, threads: tuple[int, ...]) -> None:
    assert candidates(cores) == threads


def test_the_quickest_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert choose(lambda: {1: 3.0, 2: 1.0, 4: 2.0, 7: 4.0}[torch.get_num_threads()]) == 2
    assert torch.get_num_threads() == 2


def test_whoever_set_the_number_of_threads_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    before = torch.get_num_threads()
    assert choose(lambda: 1 / 0) == before
