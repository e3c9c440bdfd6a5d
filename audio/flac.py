"""FLAC: a finished recording made smaller, and read again.

Refuses to know metadata and when a recording is finished.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile

from audio import wav
from audio.frames import FRAME_SAMPLES, SAMPLE_RATE
from audio.g711 import Pcm16
from audio.recording_files import create

_BLOCK_FRAMES = 125  # ten seconds, so that memory stays flat however long the call


def convert(source: Path, target: Path, frames: int) -> None:
    """Write `frames` frames of a recording's WAV as FLAC, read it back, and make it safe on disk.

    Raises:
        OSError: reading or writing failed; `target` is then of no use.
    """
    create(target).close()  # so that its mode is right from the start
    try:
        _encode(source, target, frames)
        same = _reads_back(source, target, frames)
    except soundfile.LibsndfileError as error:
        raise OSError(f"cannot write {target.name}: {error}") from error
    if not same:
        raise OSError(f"cannot write {target.name}: it does not read back as it was written")
    with target.open("rb") as written:
        os.fsync(written)


def _encode(source: Path, target: Path, frames: int) -> None:
    with soundfile.SoundFile(
        target, "w", SAMPLE_RATE, wav.CHANNELS, subtype="PCM_16", format="FLAC"
    ) as encoder:
        for block in _blocks(source, frames):
            encoder.write(block)


def _reads_back(source: Path, target: Path, frames: int) -> bool:
    """Whether the FLAC holds the WAV's samples: libsndfile does not tell of a disk full at its end."""
    with soundfile.SoundFile(target) as decoder:
        return all(
            np.array_equal(block, decoder.read(len(block), "int16")) for block in _blocks(source, frames)
        )


def _blocks(source: Path, frames: int) -> Iterator[Pcm16]:
    """The samples of a recording's WAV in order, int16 [n, 2]."""
    with source.open("rb") as pcm:
        pcm.seek(wav.HEADER_BYTES)
        for start in range(0, frames, _BLOCK_FRAMES):
            data = pcm.read(min(_BLOCK_FRAMES, frames - start) * wav.FRAME_BYTES)
            yield np.frombuffer(data, "<i2").reshape(-1, wav.CHANNELS)


def read(path: Path, start: int, frames: int) -> npt.NDArray[np.float32]:
    """Frames of a FLAC recording as float32 [n, 2]."""
    samples: npt.NDArray[np.float32] = soundfile.read(
        path, frames * FRAME_SAMPLES, start * FRAME_SAMPLES, dtype="float32", always_2d=True
    )[0]
    return samples
