"""What is heard again is found among what was told, by text and time together."""

from __future__ import annotations

import pytest

from duet_client.wire import Word
from transcribe_sidecar.alignment import plain, untold


def words(text: str, start_ms: int = 0, every_ms: int = 300) -> list[Word]:
    return [
        Word(each, start_ms + n * every_ms, start_ms + n * every_ms + 250, 0.9)
        for n, each in enumerate(text.split())
    ]


@pytest.mark.parametrize(
    ("told", "heard", "new"),
    [
        ("prevent rice from", words("prevent rice from becoming sticky"), "becoming sticky"),
        ("prevent rice from", words("prevent race from becoming", 60), "becoming"),
        ("prevent rice from", words("rice from becoming", 250), "becoming"),
        ("prevent race", words("rice from becoming", 280), "from becoming"),
        ("prevent rice from", words("becoming sticky", 980), "becoming sticky"),
        ("thank you thank you", words("thank you thank you thank you", 70), "thank you"),
        ("thank you thank you", words("you thank you", 820), "thank you"),
        ("no", words("no", 900), "no"),
        ("no", words("no", 190), ""),
        ("no", words("no no", 40), "no"),
        ("prevent rice from", [], ""),
        ("", words("prevent rice"), "prevent rice"),
    ],
)
def test_only_what_was_not_told_is_new(told: str, heard: list[Word], new: str) -> None:
    assert [word.word for word in heard[untold(words(told), heard) :]] == new.split()


@pytest.mark.parametrize(
    ("word", "bare"), [(" Stove?", "stove"), ("don't,", "don't"), ("...", ""), ("24.5", "245")]
)
def test_words_are_compared_without_case_and_punctuation(word: str, bare: str) -> None:
    assert plain(word) == bare
