"""Patterns that blank words before anything is written, across words and without a stall."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.settings import ConfigError
from server.transcripts.redaction import REACH, Redaction, Window, load_redaction


def patterns(tmp_path: Path, **named: str) -> Redaction:
    file = tmp_path / "redact.toml"
    file.write_text("[patterns]\n" + "".join(f"{name} = '{pattern}'\n" for name, pattern in named.items()))
    return load_redaction(file)


def test_without_a_file_nothing_is_blanked() -> None:
    assert not load_redaction(None)
    assert load_redaction(None).text("any  words") == "any  words"


def test_a_match_across_words_blanks_each_of_them_whole(tmp_path: Path) -> None:
    redaction = patterns(tmp_path, number=r"four one (double )?one")
    assert redaction.words(["It", "is", "Four", "one,", "double", "one.", "Thanks"]) == [
        "It", "is", "[number]", "[number]", "[number]", "[number]", "Thanks",
    ]  # fmt: skip


def test_a_match_inside_a_word_blanks_the_word(tmp_path: Path) -> None:
    redaction = patterns(tmp_path, mail=r"\S@\S")
    assert redaction.text("write to jo@example.org, please") == "write to [mail] please"


def test_a_text_where_nothing_matches_keeps_its_blanks_and_lines(tmp_path: Path) -> None:
    assert patterns(tmp_path, a="secret").text(" two  blanks\nand a line ") == " two  blanks\nand a line "


def test_words_beyond_ascii_are_blanked_in_their_place(tmp_path: Path) -> None:
    redaction = patterns(tmp_path, name="müller")
    assert redaction.words(["Grüße,", "Herr", "Müller", "\ud800", "ok"]) == [
        "Grüße,", "Herr", "[name]", "\ud800", "ok",
    ]  # fmt: skip


def test_no_words_and_words_of_punctuation_alone_are_no_trouble(tmp_path: Path) -> None:
    redaction = patterns(tmp_path, a=r"\bx\b", b=r"y\b")
    assert redaction.words([]) == []
    assert redaction.words(["--", "x", "...", "y"]) == ["--", "[a]", "...", "[b]"]


def through(window: Window[int], words: list[str]) -> list[str]:
    shown = [text for n, word in enumerate(words) for _, text in window.put(n, word)]
    return shown + [text for _, text in window.flush()]


def test_without_patterns_a_word_passes_at_once() -> None:
    window: Window[int] = Window(Redaction())
    assert window.put(7, "word") == [(7, "word")]
    assert window.flush() == []


@pytest.mark.parametrize("before", [0, 1, REACH - 1, REACH, 3 * REACH])
def test_a_phrase_is_blanked_wherever_in_the_stream_it_falls(tmp_path: Path, before: int) -> None:
    redaction = patterns(tmp_path, phrase="blue moon over " + " ".join(["miles"] * (REACH - 3)))
    phrase = ["Blue", "moon,", "over", *["miles"] * (REACH - 3)]
    words = [*[f"w{n}" for n in range(before)], *phrase, *["after"] * 100]
    shown = through(Window(redaction), words)
    assert shown == [*words[:before], *["[phrase]"] * REACH, *["after"] * 100]


def test_no_word_of_a_phrase_leaves_before_its_last_word_has_come(tmp_path: Path) -> None:
    window: Window[str] = Window(patterns(tmp_path, phrase="a( \\w+){31}"))
    words = ["a", *[f"w{n}" for n in range(REACH - 1)]]
    assert [window.put(word, word) for word in words] == [[]] * REACH
    assert window.put("next", "next") == [("a", "[phrase]")]


def test_a_pattern_made_to_backtrack_for_ever_takes_linear_time(tmp_path: Path) -> None:
    redaction = patterns(tmp_path, evil=r"(x+x+)+y")
    assert redaction.text("x" * 100_000) == "x" * 100_000


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[patterns]\nok = 'a'\nbad = '(b'\n", "redact.toml:3: bad is no RE2 pattern"),
        ("[patterns]\nall = 'a*'\n", "redact.toml:2: all matches no word at all"),
        ("[patterns]\nback = '(a)\\1'\n", "redact.toml:2: back is no RE2 pattern"),
        ("[patterns]\nn = 4\n", "redact.toml:2: n must be a pattern in quotes"),
        ("[patterns]\n'a b' = 'x'\n", "redact.toml:2: a name is letters, digits"),
        ("[patterns]\n", "must hold one table [patterns]"),
        ("x = 1\n[patterns]\na = 'b'\n", "must hold one table [patterns]"),
        ("[patterns\n", "line 1"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "redact.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_redaction(file)
    assert problem in refused.value.on_command_line
    assert refused.value.on_command_line.startswith("--redact ")


def test_a_missing_file_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: .*none.toml: No such file"):
        load_redaction(tmp_path / "none.toml")
