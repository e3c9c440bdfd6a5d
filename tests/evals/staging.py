"""Clips and scenarios for the driver's tests: tones, so that the energy rule finds every edge to the hop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile

from evals.scenario import Scenario
from evals.scenario_reader import load_scenario

RATE = 24_000


def tone(seconds: float, level: float = 0.3, hertz: float = 400.0) -> npt.NDArray[np.float32]:
    """float32 [seconds * 24000]."""
    at = np.arange(round(seconds * RATE)) / RATE
    wave: npt.NDArray[np.float32] = (level * np.sin(2 * np.pi * hertz * at)).astype(np.float32)
    return wave


def silence(seconds: float) -> npt.NDArray[np.float32]:
    return np.zeros(round(seconds * RATE), np.float32)


def write_clip(path: Path, *parts: npt.NDArray[np.float32], rate: int = RATE) -> Path:
    soundfile.write(path, np.concatenate(parts), rate, subtype="PCM_16")
    return path


def scenario(folder: Path, text: str, /, **clip_seconds: float) -> Scenario:
    """The scenario `staged` of a TOML text; each keyword makes NAME.wav, a tone of so many seconds."""
    return named_scenario(folder, "staged", text, **clip_seconds)


def named_scenario(folder: Path, name: str, text: str, /, **clip_seconds: float) -> Scenario:
    for clip, seconds in clip_seconds.items():
        write_clip(folder / f"{clip}.wav", tone(seconds))
    path = folder / f"{name}.toml"
    path.write_text(text)
    return load_scenario(path)
