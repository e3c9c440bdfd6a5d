"""Utterances begin where speech does, survive short pauses, and end after long ones."""

from __future__ import annotations

from transcribe_sidecar.speech import END_CHUNKS, Gate, Utterance
from transcribe_sidecar.timeline import Span


def utterances(*parts: tuple[float, int]) -> list[Utterance]:
    gate, found = Gate(), []
    for probability, count in parts:
        found += [each for _ in range(count) if (each := gate.push(probability)) is not None]
    return found


def test_an_utterance_begins_with_its_first_loud_chunk_and_ends_with_its_last() -> None:
    (only,) = utterances((0.1, 10), (0.9, 20), (0.1, END_CHUNKS))
    assert (only.start, only.end, only.closed) == (10, 30, True)


def test_a_click_is_no_speech() -> None:
    assert utterances((0.1, 10), (0.9, 2), (0.1, 30)) == []


def test_a_short_pause_parts_runs_and_not_utterances() -> None:
    (only,) = utterances((0.9, 10), (0.1, 8), (0.9, 10), (0.1, END_CHUNKS))
    assert only.runs == [[0, 10], [18, 28]]
    assert only.spans(5, 20, 1_000) == (Span(1_160, 1_320), Span(1_576, 1_640))


def test_speech_that_becomes_quiet_for_a_moment_goes_on() -> None:
    (only,) = utterances((0.9, 10), (0.4, 30), (0.1, END_CHUNKS))
    assert (only.end, len(only.runs)) == (40, 1)


def test_a_long_pause_parts_utterances() -> None:
    assert [each.start for each in utterances((0.9, 5), (0.1, END_CHUNKS), (0.9, 5))] == [0, 25]


def test_what_was_cut_off_the_window_is_forgotten() -> None:
    (only,) = utterances(*[(0.9, 10), (0.1, 8)] * 50)
    only.forget(850)
    assert len(only.runs) <= 4
