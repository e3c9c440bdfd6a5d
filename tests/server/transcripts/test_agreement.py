"""Whether an agent says what it writes, by word error rate over a window."""

from __future__ import annotations

import pytest

from duet_client.wire import Word
from server.transcripts.agreement import WINDOW_MS, Agreement, Episode, error_rate

TEN = ["the", "train", "to", "the", "coast", "leaves", "at", "nine", "every", "morning"]


def speak(agreement: Agreement, texts: list[tuple[str, str]], start_ms: int = 0) -> list[Episode]:
    """Two words a second, (written, heard) each; the episodes that begin."""
    begun = []
    for n, (written, heard) in enumerate(texts):
        at = start_ms + n * 500
        agreement.wrote(written, at - 300)  # a model writes before it speaks
        episode = agreement.heard([Word(heard, at, at + 400, 0.9)], at + 500)
        begun += [episode] if episode else []
    return begun


def same(words: int, first: int = 0) -> list[tuple[str, str]]:
    return [(f"w{n}", f"w{n}") for n in range(first, first + words)]


def other(words: int, first: int = 0) -> list[tuple[str, str]]:
    return [(f"w{n}", f"x{n}") for n in range(first, first + words)]


def test_the_rate_counts_wrong_missing_and_added_words_over_the_longer_text() -> None:
    assert error_rate(TEN, TEN) == 0
    assert error_rate(TEN, ["a", *TEN[1:]]) == pytest.approx(1 / 10)
    assert error_rate(TEN, TEN[:4] + TEN[5:]) == pytest.approx(1 / 10)
    assert error_rate(TEN, [*TEN[:4], "um", *TEN[4:]]) == pytest.approx(1 / 11)


def test_words_heard_before_and_after_all_matches_are_a_neighbours() -> None:
    assert error_rate(TEN, ["so", "then", *TEN, "and"]) == 0


def test_a_side_that_is_silent_while_the_other_speaks_is_all_wrong() -> None:
    assert error_rate(TEN, []) == error_rate([], TEN) == 1


def test_too_few_words_on_both_sides_say_nothing() -> None:
    assert error_rate(TEN[:9], []) is None
    assert error_rate([], []) is None


def test_an_agent_that_says_what_it_writes_is_in_agreement() -> None:
    agreement = Agreement()
    assert speak(agreement, same(200)) == []
    assert (agreement.worst, agreement.begun, agreement.episodes) == (0, 0, [])


def test_case_and_punctuation_are_no_disagreement() -> None:
    agreement = Agreement()
    assert speak(agreement, [(f"W{n},", f"w{n}!") for n in range(100)]) == []


def test_an_episode_is_told_once_when_it_begins_and_again_only_after_it_ended() -> None:
    agreement = Agreement()
    begun = speak(agreement, same(80) + other(120, 80) + same(120, 200) + other(120, 320))
    assert len(begun) == agreement.begun == 2
    first, second = agreement.episodes
    # 80 words are 40 s; after 15 s of wrong words half of the 30 s window is wrong
    assert 50_000 <= first.from_ms + WINDOW_MS <= 60_000
    assert 100_000 <= first.to_ms < 135_000 < second.from_ms + WINDOW_MS
    assert first.worst == 1


def test_some_misheard_words_are_no_episode() -> None:
    texts = [(f"w{n}", f"x{n}" if n % 3 == 0 else f"w{n}") for n in range(200)]
    agreement = Agreement()
    assert speak(agreement, texts) == []
    assert agreement.worst is not None
    assert 0.3 < agreement.worst < 0.5


def test_memory_does_not_grow_with_the_call() -> None:
    agreement = Agreement()
    speak(agreement, same(5_000))
    assert len(agreement._written) < 100
    assert len(agreement._heard) < 100


def test_an_agent_that_nobody_transcribes_takes_no_more_memory_by_the_hour() -> None:
    agreement = Agreement()
    for number in range(100_000):
        agreement.wrote("so", number * 400)
    assert len(agreement._written) <= 10_000
