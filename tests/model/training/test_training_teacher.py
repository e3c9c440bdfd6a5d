"""The teacher: utterances packed into its windows, each given back what was heard in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model.training import corpus, teacher
from model.training.hearing import RATE
from model.training.teacher import Floats, clips, directions, steps, windows


def pitch(sound: Floats) -> Floats:
    """A teacher that hears how often each 20 ms cross zero, and nothing twice."""
    blocks = np.sign(sound).reshape(-1, RATE // 50)
    crossings = (np.diff(blocks, axis=1) != 0).sum(axis=1).astype(np.float32)
    return np.stack([crossings, np.zeros_like(crossings)], axis=1)


class FakeEar:
    encode = staticmethod(pitch)

    @staticmethod
    def open() -> FakeEar:
        return FakeEar()


def test_windows_hold_as_many_utterances_as_fit_with_gaps() -> None:
    packed = windows([10.0, 10.0, 8.0, 1.0])
    assert packed == [[(0, 0.4), (1, 10.8), (2, 21.2)], [(3, 0.4)]]  # 29.2, a gap and 1.0 are over 30


def test_directions_are_centred_and_vary_by_one() -> None:
    random = np.random.default_rng(0)
    features = (random.standard_normal((5000, 3)) * [5, 1, 0.01] + [1, 2, 3]).astype(np.float32)
    mean, axes = directions(features, 2)
    turned = (features - mean) @ axes
    assert np.allclose(turned.mean(axis=0), 0, atol=1e-3)
    assert np.allclose(turned.std(axis=0), 1, atol=1e-2)


def test_each_utterance_gets_its_own_steps_and_a_second_run_listens_to_nothing(
    toy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teacher, "Ear", FakeEar)
    monkeypatch.setattr(teacher, "FEATURES", 1)
    spoken = corpus.read(toy_folder / "corpus")
    counted: list[int] = []
    teacher.listen(tmp_path, spoken, counted.append)
    monkeypatch.delattr(FakeEar, "open")
    teacher.listen(tmp_path, spoken, counted.append)
    assert sum(counted) == 2 * len(spoken)
    for clip in clips(tmp_path, spoken):
        assert clip.features is not None
        assert len(clip.features) == steps(clip.spoken)
        assert np.ptp(clip.features[5:-5].astype(np.float32)) < 0.5  # a steady tone, in units of all tones


def test_where_the_teacher_has_not_listened_there_is_nothing_to_teach(toy_folder: Path) -> None:
    found = clips(toy_folder, corpus.read(toy_folder / "corpus"))
    assert {clip.features is None for clip in found} == {True}
