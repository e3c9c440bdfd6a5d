"""Makes the clips of the shipped scenarios with eSpeak NG: `python -m evals.scenarios.make_speech`.

Every `[[say]]` with a `text` gets its `clip`: 16 kHz FLAC, from the first sound to the last, so that a
clip's place is its onset. The voice follows from the scenario's name: the same one all through it.
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
            if "text" in say:
                _make(scenario, say)


def _make(scenario: Path, say: dict[str, Any]) -> None:
    target = scenario.parent / say["clip"]
    target.parent.mkdir(parents=True, exist_ok=True)
    voice = VOICES[zlib.crc32(scenario.stem.encode()) % len(VOICES)]
    soundfile.write(target, trimmed(spoken(say["text"], voice)), RATE, subtype="PCM_16", format="FLAC")


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
