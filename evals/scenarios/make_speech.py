"""Makes the clips of the shipped scenarios, speech with eSpeak NG: `python -m evals.scenarios.make_speech`.

Every `[[say]]` with a `text` gets its `clip`: 16 kHz FLAC, from the first sound to the last, so that a
clip's place is its onset. The voice follows from the scenario's name: the same one all through it, and
the next for what is in the background. A `[[say]]` whose id is in NOISES gets that noise.
Needs the program espeak-ng (GPL-3.0-or-later); what it says is ours. Refuses to know servers.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile
import soxr
from tqdm import tqdm

from audio.frames import Samples
from evals.thresholds import Thresholds

RATE = 16_000
VOICES = ("en-us+f3", "en-us+m3", "en-gb+f2", "en-gb+m7", "en-gb-scotland+m1")
WORDS_PER_MINUTE = 165
PEAK = 0.5  # -6 dBFS
FADE_S = 0.005
SOUND_DBFS = Thresholds().energy_floor_dbfs  # below it a hop of 10 ms is silence


def main(root: Path) -> None:
    """(Re)makes every clip below `root`."""
    for scenario in tqdm(sorted(root.rglob("*.toml")), unit="scenario", disable=None):
        for say in tomllib.loads(scenario.read_text("utf-8"))["say"]:
            if "text" in say or say.get("id") in NOISES:
                _make(scenario, say)


def _make(scenario: Path, say: dict[str, Any]) -> None:
    target = scenario.parent / say["clip"]
    target.parent.mkdir(parents=True, exist_ok=True)
    speaker = zlib.crc32(scenario.stem.encode()) + (say.get("event") == "background")
    voice = VOICES[speaker % len(VOICES)]
    sound = spoken(say["text"], voice) if "text" in say else NOISES[say["id"]]()
    soundfile.write(target, trimmed(sound), RATE, subtype="PCM_16", format="FLAC")


def knocking() -> Samples:
    """Three knocks on wood, 0.3 s apart: two tones that die away within a tenth of a second each."""
    times = np.arange(round(0.3 * RATE)) / RATE
    knock = np.exp(-45 * times) * (np.sin(2 * np.pi * 180 * times) + 0.5 * np.sin(2 * np.pi * 410 * times))
    return _to_peak(np.tile(knock, 3))


def truck() -> Samples:
    """Low rumble that swells and fades over 2.5 s: noise through a long mean, from a fixed seed."""
    width = RATE // 100
    hiss = np.random.default_rng(1).standard_normal(round(2.5 * RATE) + width - 1)
    rumble = np.convolve(hiss, np.hanning(width), "valid")
    return _to_peak(rumble * np.sin(np.linspace(0, np.pi, len(rumble))))


def _to_peak(sound: npt.NDArray[np.float64]) -> Samples:
    loud: Samples = (sound * (PEAK / np.abs(sound).max())).astype(np.float32)
    return loud


NOISES = {"knocking": knocking, "truck": truck}


def spoken(text: str, voice: str) -> Samples:
    """float32 [n] at RATE, its loudest sample at PEAK."""
    with tempfile.TemporaryDirectory() as scratch:
        wav = Path(scratch) / "speech.wav"
        command = ["espeak-ng", "-v", voice, "-s", str(WORDS_PER_MINUTE), "-w", str(wav), "--", text]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        samples, rate = soundfile.read(wav, dtype="float32")
    speech: Samples = soxr.resample(samples, rate, RATE)
    return speech * np.float32(PEAK / np.abs(speech).max())


def trimmed(speech: Samples) -> Samples:
    """Without the silence at both ends, and without a click at either."""
    hop = RATE // 100
    hops = speech[: len(speech) // hop * hop].reshape(-1, hop)
    loud = np.flatnonzero(np.sqrt(np.mean(hops**2, axis=1)) > 10 ** (SOUND_DBFS / 20))
    cut = speech[loud[0] * hop : (loud[-1] + 1) * hop].copy()
    ramp = np.linspace(0, 1, round(FADE_S * RATE), dtype=np.float32)
    cut[: len(ramp)] *= ramp
    cut[-len(ramp) :] *= ramp[::-1]
    return cut


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
