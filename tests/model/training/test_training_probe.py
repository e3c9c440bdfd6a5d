"""The probe finds what is in codes, and does not find what is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audio.frames import Samples
from model.training.corpus import Spoken
from model.training.probe import Example, ProbeSettings, Said, examples, together, told, train_probe
from tests.model.training.toy import toy_plan

SETTINGS = ProbeSettings(width=32, epochs=12)
NOBODY = Spoken(toy_plan()[0], np.zeros(0, np.int16), 0, 0)


def coded(random: np.random.Generator, label: int, *, telling: bool) -> Example:
    """Noise, with the label's own short motif somewhere when it is to be told."""
    said = random.standard_normal((int(random.integers(10, 20)), 8)).astype(np.float16)
    if telling:
        at = int(random.integers(0, len(said) - 4))
        said[at : at + 4, label] = 4
    return Example(NOBODY, said, label)


@pytest.mark.parametrize(("telling", "low", "high"), [(True, 0.95, 1.0), (False, 0.0, 0.6)])
def test_the_probe_tells_what_is_said(telling: bool, low: float, high: float) -> None:
    random = np.random.default_rng(0)
    drawn = [coded(random, label % 3, telling=telling) for label in range(700)]
    probe = train_probe(drawn[:500], 3, SETTINGS, lambda _: None)
    right = told(probe, drawn[500:], batch=64)
    assert len(right) == 200
    assert low <= sum(right) / 200 <= high


def test_shorter_ones_are_filled_with_nothing() -> None:
    said, mask = together([np.ones((3, 2), np.float16), np.ones((5, 2), np.float16)])
    assert said[0].tolist() == [[1, 1]] * 3 + [[0, 0]] * 2
    assert mask[0, :, 0].tolist() == [1, 1, 1, 0, 0]


def test_every_encoding_of_an_utterance_is_heard_in_another_place() -> None:
    utterance = replace(toy_plan()[-1], topic="open")
    spoken = Spoken(utterance, np.full(5000, 9000, np.int16), 0, 0)
    lengths = []

    def encode(
        sound: Samples,
    ) -> Said:
        lengths.append(len(sound))
        return np.zeros((3, 8), np.float16)

    found = list(examples([spoken], ["open"], encode, times=4, seed=1))
    assert [example.label for example in found] == [0] * 4
    assert len(set(lengths)) == 4
    assert all(5000 + 2 * 1920 <= length < 5000 + 8 * 1920 for length in lengths)
