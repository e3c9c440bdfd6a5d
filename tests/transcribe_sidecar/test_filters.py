"""What Whisper makes up is not believed, and what people say is, even where they repeat themselves."""

from __future__ import annotations

import numpy as np
import pytest

from duet_client.wire import Word
from transcribe_sidecar.filters import Pass, believed, loops
from transcribe_sidecar.timeline import Span, Window


def window(*runs: tuple[int, int], speech: float = 0.95, length_ms: int = 10_000) -> Window:
    spans = tuple(Span(*run) for run in runs)
    return Window("user", 0, np.zeros(16 * length_ms, np.float32), spans, speech, True, length_ms)


def said(text: str, start_ms: int = 1_000, every_ms: int = 300, length_ms: int = 250) -> tuple[Word, ...]:
    starts = [start_ms + n * every_ms for n in range(len(text.split()))]
    return tuple(Word(word, at, at + length_ms, 0.9) for word, at in zip(text.split(), starts, strict=True))


def texts(words: tuple[Word, ...]) -> str:
    return " ".join(word.word for word in words)


SPEECH = window((1_000, 9_000))


def test_what_whisper_believes_and_the_speech_bears_out_is_believed() -> None:
    assert texts(believed(Pass(said("how do I prevent rice"), 0.1, -0.3), SPEECH)) == "how do I prevent rice"


@pytest.mark.parametrize(
    ("heard", "where"),
    [
        (Pass(said("thank you for watching"), 0.8, -1.2), SPEECH),  # Whisper says itself that nobody speaks
        (Pass(said("I'm going to go back"), 0.4, -1.8), SPEECH),  # a hum that Silero takes for speech
        (Pass(said("you"), 0.3, -0.9), window((1_000, 3_000), speech=0.6)),  # doubtful on both sides
        (Pass(said("you"), 0.1, -0.4), window((1_000, 1_200), speech=0.6)),  # a click
        (Pass(said("[Music] (laughs) ♪ ..."), 0.1, -0.2), SPEECH),  # subtitles of sounds
        (Pass(said("hello there"), 0.1, -0.2), window()),  # nobody speaks at all
    ],
)
def test_text_that_was_made_up_is_not_believed(heard: Pass, where: Window) -> None:
    assert believed(heard, where) == ()


def test_a_word_far_from_all_speech_is_dropped_and_its_neighbours_stay() -> None:
    heard = Pass((*said("stop it", 1_000), *said("bye", 6_000)), 0.1, -0.3)
    assert texts(believed(heard, window((1_000, 1_600)))) == "stop it"


def test_a_word_that_begins_with_the_window_is_moved_to_where_its_speech_begins() -> None:
    (word,) = believed(Pass((Word("how", 0, 3_900, 0.9),), 0.1, -0.3), window((3_500, 3_800)))
    assert abs(word.start_ms - 3_500) <= 50
    assert 3_800 <= word.end_ms <= 3_900


def test_a_loop_without_time_for_it_is_cut_where_it_runs_away() -> None:
    real, runaway = said("thank you " * 3, 1_000), said("thank you " * 40, 2_800, every_ms=0, length_ms=0)
    assert (
        texts(believed(Pass((*real, *runaway), 0.1, -0.2), window((1_000, 2_800))))
        == "thank you " * 2 + "thank you"
    )


def test_a_sentence_heard_a_second_time_in_no_time_was_said_once_and_ends_where_the_second_ends() -> None:
    """As tiny.en heard a joke being asked for."""
    once, again = said("could you tell a joke", 1_000, every_ms=200), said("could you tell a", 2_050, 0, 0)
    heard = Pass((*once, *again, Word("joke", 2_050, 2_230, 0.97)), 0.1, -0.3)
    found = believed(heard, window((1_000, 2_300)))
    assert texts(found) == "could you tell a joke"
    assert found[-1].end_ms == 2_230


def test_a_sentence_that_is_said_twice_is_heard_twice() -> None:
    heard = Pass(said("could you tell a joke " * 2, 1_000, every_ms=200), 0.1, -0.3)
    assert texts(believed(heard, window((1_000, 3_200)))) == "could you tell a joke could you tell a joke"


def test_a_loop_that_fills_its_time_was_said() -> None:
    heard = Pass(said("thank you " * 10, 1_000, every_ms=400), 0.2, -0.2)
    assert len(believed(heard, window((1_000, 9_000)))) == 20


def test_more_words_than_anybody_can_say_are_cut() -> None:
    heard = Pass(said(" ".join(f"word{n}" for n in range(60)), 1_000, every_ms=30), 0.2, -0.4)
    assert len(believed(heard, window((1_000, 2_000)))) <= 10


@pytest.mark.parametrize(
    ("text", "looping"),
    [("no no no no", True), ("bye bye", False), ("a b a b a b", True), ("well well well then", False)],
)
def test_a_pass_that_repeats_itself_is_noticed(text: str, looping: bool) -> None:
    assert loops(Pass(said(text), 0.1, -0.2)) is looping


def test_words_keep_their_order() -> None:
    heard = Pass((Word("one", 1_500, 1_600, 0.9), Word("two", 1_400, 1_700, 0.9)), 0.1, -0.2)
    starts = [word.start_ms for word in believed(heard, SPEECH)]
    assert starts == sorted(starts)
