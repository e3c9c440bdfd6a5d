"""What is written for other tools is read back equal, to a millisecond."""

from __future__ import annotations

import json
import re

import hypothesis.strategies as st
import pytest
from hypothesis import given

from evals.conversation import InputError
from evals.labels import Label, Segment
from evals.readers.elan import parse_eaf
from evals.readers.lines import parse_audacity, parse_ctm, parse_rttm, parse_stm, parse_uem
from evals.readers.subtitles import parse_subtitles
from evals.readers.textgrid import parse_textgrid
from evals.readers.words_json import parse_seglst, parse_words
from evals.words import RawWord
from evals.writers import lines, tiers

MS = 0.0005 + 1e-9

SEGMENTS = (
    Segment(0.2, 1.2345, "agent", "Hello, how can I help?"),
    Segment(2.0, 4.0004, "user", 'He said "no" & <left>'),
    Segment(3661.5, 3662.25, "agent", "an hour later"),
)
WORDS = (
    Segment(2.0, 2.5, "user", "He", 0.931),
    Segment(2.5, 2.9996, "user", "said", None),
    Segment(0.2, 0.7, "agent", "Hello,", 0.5),
)
TIERS = {
    "user-ipu": (Label(2.0, 4.0, "ipu"), Label(4.0, 6.0, "ipu")),
    "user-words": (Label(2.0, 2.5, 'say "hi"'), Label(2.7, 3.1, "<there> & back")),
    "agent-ipu": (),
    "events": (Label(1.0, 3.0, "user pause 0.600"), Label(2.0, 2.0, "agent response 0.250")),
}


def same(found: list[Segment], expected: tuple[Segment, ...], *, text: bool = True) -> None:
    assert [s.channel for s in found] == [s.channel for s in expected]
    assert [t for s in found for t in (s.start, s.end)] == pytest.approx(
        [t for s in expected for t in (s.start, s.end)], abs=MS
    )
    if text:
        assert [s.text for s in found] == [s.text for s in expected]


def test_ctm_keeps_words_and_their_confidence() -> None:
    found = parse_ctm(lines.ctm("call", WORDS))
    same(found, WORDS)
    assert [w.probability for w in found] == [0.931, None, 0.5]


def test_stm_keeps_what_was_said() -> None:
    plain = tuple(s for s in SEGMENTS if "<" not in s.text)
    same(parse_stm(lines.stm("call", plain)), plain)


def test_rttm_keeps_who_spoke_when() -> None:
    same(parse_rttm(lines.rttm("call", SEGMENTS)), SEGMENTS, text=False)


def test_uem_is_the_whole_recording_on_both_channels() -> None:
    assert [(i.start, i.end) for i in parse_uem(lines.uem("call", 60.0))] == [(0.0, 60.0)] * 2


def test_seglst_keeps_everything() -> None:
    found = parse_seglst(json.loads(lines.seglst("call", SEGMENTS)))
    same(found, SEGMENTS)


@pytest.mark.parametrize("write", [lines.vtt, lines.srt])
def test_subtitles_keep_the_speaker(write: object) -> None:
    text = lines.vtt(SEGMENTS) if write is lines.vtt else lines.srt(SEGMENTS)
    same(parse_subtitles(text), SEGMENTS)


def test_audacity_labels_and_points_come_back() -> None:
    for labels in TIERS.values():
        assert parse_audacity(lines.audacity(labels)) == list(labels)


def test_a_textgrid_tiles_the_file_and_comes_back() -> None:
    text = tiers.textgrid(TIERS, 10.0)
    found = parse_textgrid(text)
    assert list(found) == list(TIERS)
    assert found["user-ipu"] == TIERS["user-ipu"]
    assert found["user-words"] == TIERS["user-words"]
    assert found["agent-ipu"] == ()
    edges = [float(t) for t in re.findall(r"xm(?:in|ax) = ([\d.]+)\n +(?:xmax|text)", text)]
    assert edges[0] == 0


def test_what_overlaps_becomes_points_in_a_textgrid() -> None:
    found = parse_textgrid(tiers.textgrid(TIERS, 10.0))["events"]
    assert found == (Label(1.0, 1.0, "user pause 0.600"), Label(2.0, 2.0, "agent response 0.250"))


def test_the_short_form_of_a_textgrid_is_read_too() -> None:
    text = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n3\n<exists>\n1\n"IntervalTier"\n'
    text += '"user-words"\n0\n3\n2\n0\n1.5\n""\n1.5\n3\n"two"\n'
    assert parse_textgrid(text) == {"user-words": (Label(1.5, 3.0, "two"),)}


def test_elan_has_whole_milliseconds() -> None:
    found = parse_eaf(tiers.eaf(TIERS, "call.wav"))
    assert found == {name: tuple(sorted(labels)) for name, labels in TIERS.items()}


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_ctm, "call 1 0.5\n", "line 1 is no CTM"),
        (parse_ctm, "call 7 0.5 0.1 word\n", "channel '7'"),
        (parse_stm, ";; comment\ncall 1 user x 1 word\n", "line 2 is no STM"),
        (parse_rttm, "SPEAKER call 1 0 1 <NA> <NA> bob <NA> <NA>\n", "channel 'bob'"),
        (parse_audacity, "a\tb\tc\n", "line 1 is no Audacity label"),
        (parse_textgrid, "no grid", "is no TextGrid"),
        (parse_textgrid, tiers.textgrid(TIERS, 10.0)[:400], "is no whole TextGrid"),
        (parse_eaf, "<ANNOTATION_DOCUMENT>", "is no ELAN file"),
        (parse_eaf, '<!DOCTYPE x [<!ENTITY a "b">]><x/>', "declares entities"),
        (parse_subtitles, "00:01.000 --> 00:02.000\nnobody said this", "without a speaker"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(parse: object, text: str, message: str) -> None:
    assert callable(parse)
    with pytest.raises(InputError, match=re.escape(message)):
        parse(text)


@pytest.mark.parametrize(
    "data",
    [
        {
            "text": "a b",
            "chunks": [{"text": " a", "timestamp": [0, 1]}, {"text": "b", "timestamp": [1, None]}],
        },
        {"words": [{"word": "a", "start": 0, "end": 1}, {"text": "b", "start": 1, "end": None}]},
        {"segments": [{"words": [{"word": "a", "start": 0, "end": 1}, {"word": "b", "start": 1}]}]},
    ],
)
def test_every_shape_of_one_channels_transcript_is_known(data: object) -> None:
    assert parse_words(data) == {None: [RawWord("a", 0, 1), RawWord("b", 1, None)]}


def test_transcripts_of_both_channels_are_told_apart() -> None:
    ours = {"channels": [{"speaker": "agent", "words": [{"text": "a", "start_ms": 80, "end_ms": 160}]}]}
    assert parse_words(ours) == {"agent": [RawWord("a", 0.08, 0.16)]}
    driven = {"words": {"agent": [{"word": "a", "start": 1, "end": 2}], "user": []}}
    assert parse_words(driven) == {"agent": [RawWord("a", 1, 2)], "user": []}
    segments = [{"speaker": "user", "start_time": 1, "end_time": 2, "words": "a b"}]
    assert parse_words(segments)["user"] == [RawWord("a", 1, 1.5), RawWord("b", 1.5, 2)]


@pytest.mark.parametrize("data", [{"text": "x"}, [], {"chunks": [{"text": "a"}]}, 3, {"words": 5}, None])
def test_json_of_another_kind_is_refused(data: object) -> None:
    with pytest.raises(InputError, match="no JSON with words"):
        parse_words(data)


_TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp", "Zs")), min_size=1, max_size=8)


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 500), _TEXT), max_size=6))
def test_any_words_survive_a_textgrid_and_an_eaf(found: list[tuple[int, int, str]]) -> None:
    at, labels = 0, []
    for gap, length, text in found:
        labels.append(Label((at + gap) / 1000, (at + gap + length) / 1000, text))
        at += gap + length
    one = {"user-words": tuple(labels)}
    assert parse_textgrid(tiers.textgrid(one, at / 1000 + 1)) == one
    assert parse_eaf(tiers.eaf(one, "a.wav")) == one
