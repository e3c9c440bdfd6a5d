"""Phonemes of words, where espeak-ng is installed."""

from __future__ import annotations

import shutil

import pytest

from model.training.sounds import AT_ONCE, PHONEMES, Pronunciation

pytestmark = pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="needs the program espeak-ng")


def told(numbers: list[int]) -> str:
    return "".join(PHONEMES[number] for number in numbers)


def test_words_are_told_as_they_sound_without_stress_and_length() -> None:
    sheep, lights = Pronunciation()(["sheep", "the lights"])
    assert told(sheep) == "ʃip"
    assert told(lights) == "ðəlaɪts"


def test_more_words_than_are_asked_at_once_keep_their_order() -> None:
    numbers = ["one", "two", "three"] * AT_ONCE
    singly = Pronunciation()
    (together,) = Pronunciation()([" ".join(numbers + [f"{'a' * n}t" for n in range(1, AT_ONCE + 20)])])
    begun = [number for word in numbers for number in singly([word])[0]]
    assert together[: len(begun)] == begun
