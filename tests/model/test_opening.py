"""From words to a running engine."""

from __future__ import annotations

import queue
from pathlib import Path

import numpy as np
import pytest
import torch

from audio.frames import silence
from model.checkpoint import Loaded
from model.compact import launch
from model.config import ModelError, Sampling
from model.engine import Engine, FrameResult, StepReport
from model.opening import PieceVocabulary, open_engine, pick_device


def ignore(_: StepReport) -> None:
    return None


def test_an_opened_engine_answers_a_frame(small_folder: Path) -> None:
    reports: queue.Queue[StepReport] = queue.Queue()
    engine = open_engine(str(small_folder), device="cpu", dtype="auto", capacity=2, on_step=reports.put)
    engine.start()
    try:
        ticket = engine.join(Sampling())
        for _ in range(2):
            engine.submit(ticket, silence(), 0.0)
        results: list[FrameResult] = []
        while len(results) < 2:
            results += reports.get(timeout=60).results
    finally:
        engine.stop()
    assert [r.frame for r in results] == [0, 1]
    assert results[1].pcm is not None
    assert engine.info.dtype == "float32"


def test_a_started_engine_has_recorded_every_number_of_sessions_whoever_chose_the_threads(
    small_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # else choosing threads would have stepped the model already
    engine = open_engine(str(small_folder), device="cpu", dtype="auto", capacity=3, on_step=ignore)
    engine.start()
    engine.stop()
    runtime = engine._runtime
    monkeypatch.setattr(launch, "Recorder", None)
    for rows in (3, 1, 2):
        for slot in range(rows):
            runtime.join(slot, Sampling())
        for _ in range(3):
            assert runtime.step(range(rows), np.stack([silence()] * rows)).finite.all()


def test_a_capacity_that_memory_cannot_hold_is_refused_with_the_most_it_can(small_folder: Path) -> None:
    with pytest.raises(
        ModelError, match=r"capacity 100000000 needs \d+\.\d GB .*--capacity may be at most \d+"
    ):
        open_engine(str(small_folder), device="cpu", dtype="float32", capacity=100_000_000, on_step=ignore)


def test_an_unknown_dtype_is_refused_with_those_there_are(small_folder: Path) -> None:
    with pytest.raises(ModelError, match="dtype must be one of auto, float32, bfloat16, float16, not int8"):
        open_engine(str(small_folder), device="cpu", dtype="int8", capacity=1, on_step=ignore)


@pytest.mark.parametrize("device", ["tpu", "meta", "cuda:x", ""])
def test_an_unknown_device_is_refused_with_those_there_are(device: str) -> None:
    with pytest.raises(ModelError, match="device must be auto, cpu, cuda or cuda:N"):
        pick_device(device)


def test_a_cuda_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(ModelError, match=r"device cuda:99 is not there: \d+ CUDA devices found"):
        pick_device("cuda:99")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_a_session_on_cuda_draws_what_it_draws_alone(small_folder: Path) -> None:
    reports: queue.Queue[StepReport] = queue.Queue()
    engine = open_engine(str(small_folder), device="cuda", dtype="float32", capacity=4, on_step=reports.put)
    engine.start()
    try:
        tokens = [_play(engine, reports, others=n) for n in (0, 3)]
    finally:
        engine.stop()
    assert tokens[0] == tokens[1]


def _play(engine: Engine, reports: queue.Queue[StepReport], others: int) -> list[int]:
    guests = [engine.join(Sampling(seed=n)) for n in range(others)]
    ticket = engine.join(Sampling(seed=7))
    tokens: list[int] = []
    for frame in range(20):
        for t in (*guests, ticket):
            engine.submit(t, silence(), 0.0)
        while len(tokens) <= frame:
            tokens += [r.token for r in reports.get(timeout=60).results if r.ticket == ticket]
    for t in (*guests, ticket):
        engine.leave(t)
    return tokens


def test_padding_and_control_pieces_say_nothing(loaded: Loaded) -> None:
    vocabulary = PieceVocabulary(loaded)
    assert [vocabulary.piece(token) for token in (0, 1, 2, 3, -1, 10**6)] == [None] * 6
    assert vocabulary.piece(127) == loaded.tokenizer.id_to_piece(127)
