"""Words of a text laid over the phonemes of a synthesiser: each where it is said, in order."""

from __future__ import annotations

from model.training.word_spans import Span, Word, placed


def spans(groups: str, each_s: float = 0.1) -> list[Span]:
    """One symbol after another, a tenth of a second each."""
    return [
        (symbol, round(n * each_s, 3), round((n + 1) * each_s, 3)) for n, symbol in enumerate(f"^{groups}$")
    ]


def test_each_word_lies_where_its_phonemes_do() -> None:
    assert placed("Go home.", spans("ɡoʊ hoʊm.")) == (Word("Go", 0.1, 0.4), Word("home.", 0.5, 0.9))


def test_words_that_run_together_share_their_time_by_their_letters() -> None:
    found = placed("sit on the chair", spans("sɪt ɔnðə tʃɛɹ"))
    assert [word.text for word in found] == ["sit", "on", "the", "chair"]
    on, the = found[1:3]
    assert (on.start_s, the.end_s) == (0.5, 0.9)
    assert 0.5 < on.end_s == the.start_s < 0.8


def test_a_word_said_in_two_groups_loses_no_other_word() -> None:
    found = placed("pay him now", spans("peɪ hɪm nɑ ʊ"))
    assert [word.text for word in found] == ["pay", "him", "now"]
    assert found[2].start_s == 0.9


def test_a_second_sentence_comes_after_the_first() -> None:
    found = placed("Yes. No.", [*spans("jɛs."), ("^", 0.7, 0.8), ("n", 0.8, 0.9), ("oʊ", 0.9, 1.0)])
    assert [(word.text, word.start_s) for word in found] == [("Yes.", 0.1), ("No.", 0.8)]


def test_without_phonemes_there_are_no_times() -> None:
    assert placed("Go home.", []) == ()
