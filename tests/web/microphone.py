"""What the tests' microphone hears: a person, where a recording of one is there, else a tone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

from audio.frames import Samples

RECORDING = Path(__file__).resolve().parents[3] / "shared" / "data" / "input_assistant.wav"
WORDS = "how do i prevent rice from becoming sticky when cooking on the stove"
"""What the person says between 2.9 s and 10.7 s of the recording."""
RATE = 48_000
_FROM_S, _TO_S, _PAUSE_S = 2.4, 11.0, 5.0


def has_person() -> bool:
    return RECORDING.exists()


def write_voice(path: Path) -> None:
    """It is played again and again."""
    samples, rate = _person() if has_person() else (_tone(), RATE)
    soundfile.write(path, samples, rate, subtype="PCM_16")


def _person() -> tuple[Samples, int]:
    samples, rate = soundfile.read(RECORDING, dtype="float32")
    looped = np.zeros(int((_TO_S - _FROM_S + _PAUSE_S) * rate), np.float32)
    said = samples[int(_FROM_S * rate) : int(_TO_S * rate)]
    looped[: len(said)] = said
    return looped, int(rate)


def _tone() -> Samples:
    """Two seconds of 300 Hz that come and go like syllables."""
    times = np.arange(2 * RATE) / RATE
    tone = 0.27 * np.sin(2 * np.pi * 300 * times) * np.sin(2 * np.pi * 1.5 * times)
    return np.asarray(tone, np.float32)
