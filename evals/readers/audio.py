"""Sound files in: two channels at 24 kHz, or one clear line on why not.

Refuses to know what is said in them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

from audio.frames import FRAME_SAMPLES
from evals.conversation import RATE, InputError, Samples

RATES = range(4_000, 192_001)
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Sound:
    """Float32 [channels, n] at 24 kHz, the rate that the file had, and what was repaired."""

    samples: Samples
    rate: int
    warnings: tuple[str, ...] = ()


def read_sound(path: Path) -> Sound:
    """Any number of channels.

    Raises InputError: not there, no sound file, empty, truncated, a rate outside 4 to 192 kHz, or
    samples that are NaN or infinite.
    """
    try:
        with soundfile.SoundFile(path) as file:
            samples, rate = _read(file), int(file.samplerate)
    except (OSError, soundfile.LibsndfileError) as error:
        raise InputError(f"cannot be read as sound: {_line(error)}") from None
    if rate not in RATES:
        raise InputError(f"has a rate of {rate} Hz, outside {RATES[0]} to {RATES[-1]}")
    if samples.size == 0:
        raise InputError("holds no audio")
    _check_whole(path, samples.shape[1], rate)
    bad = sum(int(np.count_nonzero(~np.isfinite(channel))) for channel in samples)
    if bad:
        raise InputError(f"holds {bad} samples that are NaN or infinite")
    if rate == RATE:
        return Sound(samples, rate)
    return Sound(_at_24k(samples, rate), rate, (f"{path.name} is at {rate} Hz: resampled to {RATE}",))


def read_stereo(path: Path, user_channel: int = 0) -> tuple[Samples, Samples, Sound]:
    """User, agent, and the sound they are from. Raises InputError where it has not two channels."""
    sound = read_sound(path)
    channels = len(sound.samples)
    if channels != 2:
        kind = "is mono" if channels == 1 else f"has {channels} channels"
        raise InputError(f"{kind}: a conversation needs two channels, one per speaker")
    return sound.samples[user_channel], sound.samples[1 - user_channel], sound


def read_pair(user_path: Path, agent_path: Path) -> tuple[Samples, Samples, int, tuple[str, ...]]:
    """Two mono files with the same first moment: user, agent, the user's rate, and what was repaired.

    Raises InputError naming the file.
    """
    sounds = []
    for path in (user_path, agent_path):
        try:
            sound = read_sound(path)
        except InputError as error:
            raise InputError(f"{path.name} {error}") from None
        if len(sound.samples) != 1:
            raise InputError(f"{path.name} has {len(sound.samples)} channels: one of a pair has one")
        sounds.append(sound)
    user, agent = (sound.samples[0] for sound in sounds)
    user, agent, notes = equalled(user, agent)
    return user, agent, sounds[0].rate, (*sounds[0].warnings, *sounds[1].warnings, *notes)


def equalled(user: Samples, agent: Samples) -> tuple[Samples, Samples, tuple[str, ...]]:
    """The shorter one filled with silence; worth a line beyond one frame of 80 ms."""
    length = max(len(user), len(agent))
    short = abs(len(user) - len(agent))
    if short == 0:
        return user, agent, ()
    name = "user" if len(user) < len(agent) else "agent"
    line = f"the {name} channel is {short / RATE:.3f} s shorter: filled with silence"
    user, agent = (np.pad(channel, (0, length - len(channel))) for channel in (user, agent))
    return user, agent, (line,) if short > FRAME_SAMPLES else ()


def _read(file: soundfile.SoundFile) -> npt.NDArray[np.float32]:
    """Channel by channel, and in pieces: an hour is large enough once. A header may promise too much."""
    found = np.empty((file.channels, min(file.frames, _frames_at_most(file))), np.float32)
    at = 0
    while at < found.shape[1] and len(block := file.read(_BLOCK, dtype="float32", always_2d=True)):
        found[:, at : at + len(block)] = block[: found.shape[1] - at].T
        at += len(block)
    return found[:, :at]


def _frames_at_most(file: soundfile.SoundFile) -> int:
    """Plain PCM has no more frames than the file has bytes; compressed formats know their length."""
    return os.stat(file.name).st_size if file.format in ("WAV", "WAVEX", "RF64") else int(file.frames)


def _check_whole(path: Path, frames: int, rate: int) -> None:
    """libsndfile reads what there is of a WAV; its header tells what there should be."""
    promised = _promised_bytes(path)
    if promised is None:
        return
    data_bytes, frame_bytes, there = promised
    if data_bytes > there and frame_bytes:
        wanted, found = data_bytes / frame_bytes / rate, frames / rate
        raise InputError(f"is truncated: its header promises {wanted:.2f} s and it holds {found:.2f} s")


def _promised_bytes(path: Path) -> tuple[int, int, int] | None:
    """Bytes that a plain WAV's header promises, bytes a frame, bytes that are there; None for other files.

    A size of all ones or zero is what a recorder writes that cannot go back: no promise.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(4) != b"RIFF" or file.read(8)[4:] != b"WAVE":
            return None
        frame_bytes = 0
        while len(head := file.read(8)) == 8:
            name, length = head[:4], int.from_bytes(head[4:], "little")
            if name == b"data":
                there = size - file.tell()
                return None if length in (0, 0xFFFFFFFF) else (length, frame_bytes, there)
            body = file.read(length + length % 2) if length < 1 << 20 else b""
            if name == b"fmt " and len(body) >= 14:
                frame_bytes = int.from_bytes(body[12:14], "little")
    return None


def _at_24k(samples: npt.NDArray[np.float32], rate: int) -> Samples:
    return np.stack([np.asarray(soxr.resample(channel, rate, RATE), np.float32) for channel in samples])


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].removesuffix(".")
