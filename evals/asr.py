"""Words made here, by Whisper, each channel alone: overlapped words stay with their speaker.

Needs faster-whisper. Word starts after a silence may be half a second early; activity is not taken
from them unless asked for. Refuses to know what the words are for.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
from pathlib import Path
from typing import Any

import numpy as np
import soxr

from evals.conversation import RATE, ChannelName, InputError, Samples
from evals.words import RawWord, Word, repaired

WHISPER_RATE = 16_000


def version(model: str) -> str:
    """The model's name and the package that runs it."""
    name = Path(model).name if os.sep in model else model
    return f"Whisper {name} (faster-whisper {importlib.metadata.version('faster-whisper')})"


@functools.lru_cache(maxsize=1)
def _model(name: str) -> Any:
    try:
        from faster_whisper import WhisperModel  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise InputError(
            "words by Whisper need the faster-whisper package: pip install 'duet[evals]'"
        ) from None
    try:
        return WhisperModel(name, device="cpu", compute_type="int8", cpu_threads=1)
    except Exception as error:  # a wrong name, no network, a broken folder: each has its own error
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"Whisper model {name!r} cannot be loaded: {line}") from None


def transcribe(samples: Samples, channel: ChannelName, model: str, language: str | None) -> tuple[Word, ...]:
    """Words of one channel. Greedy and without context, so that equal audio gives equal words.

    Raises InputError where there is no such model.
    """
    audio = np.asarray(soxr.resample(samples, RATE, WHISPER_RATE), np.float32)
    segments, _ = _model(model).transcribe(
        audio,
        language=language,
        beam_size=1,
        temperature=0.0,
        condition_on_previous_text=False,
        word_timestamps=True,
        vad_filter=True,
    )
    raw = [
        RawWord(word.word.strip(), float(word.start), float(word.end), float(word.probability))
        for segment in segments
        for word in segment.words or ()
    ]
    return repaired(raw, channel, len(samples) / RATE)[0]
