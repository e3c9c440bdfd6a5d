"""The sound of a scored conversation, found again by what its result says, read in blocks.

Hours do not fit into memory: what is read is encoded and reduced to peaks on the way. Refuses to
know results and pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import soxr

from evals.report.clips import OPUS_RATES, Stereo, encode_clip

BLOCK_S = 10
CLIP_RATE = 24_000
PEAKS_PER_S = 25


class NoSound(Exception):
    """The sound cannot be had; the message is one line."""


@dataclass(frozen=True, slots=True)
class Sound:
    """opus: Ogg-Opus, user left, agent right. peaks: of each, PEAKS_PER_S bytes a second, 255 full scale."""

    opus: bytes
    peaks: tuple[bytes, bytes]


def read_sound(audio: str, user_channel: int, folders: Sequence[Path]) -> Sound:
    """audio: a stereo file, or "USER|AGENT" for two mono files; looked for as it is, then in `folders`.

    Raises:
        NoSound: a file is gone or cannot be read.
    """
    paths = [_find(name, folders) for name in audio.split("|")]
    peaks = PeakMeter()
    try:
        with ExitStack() as stack:
            files = [stack.enter_context(soundfile.SoundFile(path)) for path in paths]
            rate = files[0].samplerate
            blocks = _resampled(_blocks(files, user_channel), rate)
            return Sound(encode_clip(peaks.watch(blocks, _clip_rate(rate)), _clip_rate(rate)), peaks.peaks())
    except (soundfile.LibsndfileError, RuntimeError) as error:
        raise NoSound(f"{audio}: {error}") from None


def _find(name: str, folders: Sequence[Path]) -> Path:
    for candidate in (Path(name), *(folder / name for folder in folders)):
        if candidate.is_file():
            return candidate
    raise NoSound(f"{name}: the file is not there any more")


def _blocks(files: Sequence[soundfile.SoundFile], user_channel: int) -> Iterator[Stereo]:
    """Float32 [n, 2], user first; where one of two files ends earlier, silence."""
    frames = BLOCK_S * files[0].samplerate
    while True:
        parts = [file.read(frames, dtype="float32", always_2d=True) for file in files]
        length = max(len(part) for part in parts)
        if length == 0:
            return
        padded = [np.pad(part, ((0, length - len(part)), (0, 0))) for part in parts]
        block = np.concatenate(padded, axis=1)
        yield block[:, [user_channel, 1 - user_channel]] if len(files) == 1 else block[:, :2]


def _clip_rate(rate: int) -> int:
    return rate if rate in OPUS_RATES else CLIP_RATE


def _resampled(blocks: Iterator[Stereo], rate: int) -> Iterator[Stereo]:
    if rate in OPUS_RATES:
        yield from blocks
        return
    stream = soxr.ResampleStream(rate, CLIP_RATE, 2)
    for block in blocks:
        yield stream.resample_chunk(block)
    yield stream.resample_chunk(np.zeros((0, 2), np.float32), last=True)


class PeakMeter:
    """Lets blocks through and keeps the peak of every 40 ms."""

    def __init__(self) -> None:
        self._rest: Stereo = np.zeros((0, 2), np.float32)
        self._found: list[Stereo] = []

    def watch(self, blocks: Iterator[Stereo], rate: int) -> Iterator[Stereo]:
        """The same blocks."""
        step = rate // PEAKS_PER_S
        for block in blocks:
            self._rest = np.concatenate([self._rest, np.abs(block)])
            whole = len(self._rest) // step
            self._found.append(self._rest[: whole * step].reshape(whole, step, 2).max(axis=1))
            self._rest = self._rest[whole * step :]
            yield block

    def peaks(self) -> tuple[bytes, bytes]:
        """User's and agent's, one byte each; the last part of a step is left out."""
        found = np.concatenate([np.zeros((0, 2), np.float32), *self._found])
        steps = np.round(np.minimum(found, 1.0) * 255).astype(np.uint8)
        return steps[:, 0].tobytes(), steps[:, 1].tobytes()
