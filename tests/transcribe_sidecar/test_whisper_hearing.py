"""The whole way from frames to words with the real Whisper tiny.en: what is said is told once and in its
place, and what is not said is not told."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from jiwer import wer

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, Samples
from duet_client import Frame
from duet_client.wire import TranscriptAppend, TranscriptUtterance, Word
from tests.transcribe_sidecar.spoken import NEEDS_FLITE, NEEDS_WHISPER, STORY, placed, silence, spoken
from transcribe_sidecar.alignment import plain
from transcribe_sidecar.call import Call
from transcribe_sidecar.config import Settings
from transcribe_sidecar.engine import Engine, Report
from transcribe_sidecar.resume import Standing
from transcribe_sidecar.whisper import LazyWhisper

pytestmark = NEEDS_WHISPER

DATA = Path(__file__).parents[3] / "shared" / "data"
TIME_ERROR_MS = 300
WORST_WER = 0.15
SECONDS = 60

ASSISTANT = (
    "How do I prevent rice from becoming sticky when cooking on the stove?"
    " By the way, what quick garnish could add color to the finished rice?"
)
"""What is said in input_assistant.wav: as Whisper base hears it, with beam search, less the `you` that
it makes up in the silence at the end."""


@cache
def whisper() -> LazyWhisper:
    found = LazyWhisper(Settings(device="cpu"))
    found.load()
    return found


class Told:
    """What a call's user said, as it was told. utterances: of the final transcript."""

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.utterances: list[TranscriptUtterance] = []
        self.done = False

    def take(self, report: Report) -> None:
        for message in report.messages:
            if isinstance(message, TranscriptAppend) and message.channel == "user":
                self.words += message.words
            elif isinstance(message, TranscriptUtterance) and message.channel == "user":
                self.utterances.append(message)
        self.done = report.progress.done

    @property
    def text(self) -> list[str]:
        return [plain(word.word) for word in self.words]


def told(samples: Samples, final: bool = False) -> Told:
    """A call in which the user says that and the agent nothing, heard as fast as it is spoken."""
    now = 0.0
    engine, found = Engine(whisper(), lambda: now), Told()
    call = Call(0, {"user": Standing(), "agent": Standing()}, final)
    seat, agent = engine.open("call", call, found.take), np.zeros(FRAME_SAMPLES, np.float32)
    whole = len(samples) // FRAME_SAMPLES * FRAME_SAMPLES
    for index, user in enumerate(samples[:whole].reshape(-1, FRAME_SAMPLES)):
        now += FRAME_SAMPLES / SAMPLE_RATE
        engine.put(seat, Frame(index, user, agent))
        engine.turn()
    engine.put(seat, None)
    while not found.done:
        engine.turn()
    return found


@NEEDS_FLITE
def test_words_are_told_once_and_within_300_ms_of_where_they_sound() -> None:
    samples, words = placed(STORY[:2])
    found = told(samples)
    assert found.text == [word.word for word in words]
    for said, heard in zip(words, found.words, strict=True):
        assert abs(heard.start_ms - said.start_ms) <= TIME_ERROR_MS, said
        assert abs(heard.end_ms - said.end_ms) <= TIME_ERROR_MS, said


@NEEDS_FLITE
def test_the_final_transcript_has_an_utterance_for_each_thing_that_was_said() -> None:
    samples, words = placed(STORY[:2])
    found = told(samples, final=True)
    assert [[plain(word.word) for word in each.words] for each in found.utterances] == [
        sentence.split() for sentence in STORY[:2]
    ]
    assert abs(found.utterances[1].start_ms - words[len(STORY[0].split())].start_ms) <= TIME_ERROR_MS


@NEEDS_FLITE
def test_a_thank_you_that_is_said_over_and_over_is_told_and_does_not_run_away() -> None:
    times = SECONDS // 2
    once = np.concatenate([spoken("thank you"), silence(2)])[: 2 * SAMPLE_RATE]
    found = told(np.tile(once, times))
    assert 2 * times * 0.9 <= len(found.words) <= 2 * times
    assert set(found.text) == {"thank", "you"}


def tones() -> Samples:
    """Notes of a scale with overtones that die away, two a second: like music."""
    at = np.arange(SAMPLE_RATE // 2) / SAMPLE_RATE
    pitches = np.array([220 * 2 ** (step / 12) for step in (0, 4, 7, 12, 9, 5, 2, 7)])
    overtones = [np.sin(2 * np.pi * k * pitches[:, None] * at) / k for k in (1, 2, 3)]
    scale = (0.2 * np.exp(-4 * at) * np.sum(overtones, axis=0)).reshape(-1)
    return np.asarray(np.resize(scale, SECONDS * SAMPLE_RATE), np.float32)


def noise() -> Samples:
    return np.random.default_rng(1).standard_normal(SECONDS * SAMPLE_RATE, np.float32) * np.float32(0.1)


def hum() -> Samples:
    """8 s that Silero takes for speech and Whisper for words: a low tone that swells four times a second."""
    at = np.arange(8 * SAMPLE_RATE) / SAMPLE_RATE
    return np.asarray(0.3 * np.sin(2 * np.pi * 150 * at) * (1 + np.sin(2 * np.pi * 4 * at)), np.float32)


@pytest.mark.parametrize(
    "sound", [lambda: silence(SECONDS), noise, tones, hum], ids=["silence", "noise", "tones", "hum"]
)
def test_no_word_is_made_up_where_nobody_speaks(sound: Callable[[], Samples]) -> None:
    assert told(sound()).words == []


def recording(name: str) -> Samples:
    if not (DATA / name).exists():
        pytest.skip(f"the recording {name} is not there")
    samples, rate = soundfile.read(DATA / name, dtype="float32")
    return np.asarray(soxr.resample(samples, rate, SAMPLE_RATE), np.float32)


def test_a_person_who_asks_an_assistant_is_understood() -> None:
    found = told(recording("input_assistant.wav"))
    heard = " ".join(found.text)
    assert wer(" ".join(map(plain, ASSISTANT.split())), heard) <= WORST_WER


def test_a_recording_that_begins_in_mid_word_is_heard_to_its_end() -> None:
    found = told(recording("bear-or-shark.mp3"))
    assert {"bear", "shark"} <= set(found.text)
