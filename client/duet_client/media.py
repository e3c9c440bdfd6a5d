"""Recordings in and out of files, for the command line.

Plain PCM WAV needs the standard library alone; other formats and rates need the optional packages of
`duet_client[file]`. Refuses to know sessions.
"""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from duet_client.errors import CommandError
from duet_client.pcm import Pcm16, to_pcm16

RATE = 24_000
WAV_MAX_S = (2**32 - 4096) // (RATE * 4)  # a WAV's sizes have 32 bits; two channels of 16 bits

_EXTRA = "pip install 'duet-client[file]'"
_BLOCK = 1 << 20  # frames; a broken header may promise far more than there is


def read_recording(path: Path, channel: int = 0) -> tuple[Pcm16, int]:
    """One channel of a recording at 24 kHz, and how many channels the file has.

    Raises:
        CommandError: unreadable, empty, too long, no such channel, or a package is missing.
    """
    try:
        samples, rate = _read_wav(path)
    except (wave.Error, EOFError):
        samples, rate = _read_other(path)
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror or error}") from None
    length, channels = samples.shape
    if not 0 <= channel < channels:
        raise CommandError(f"{path} has channels 0 to {channels - 1}, not {channel}")
    if length == 0 or rate < 1:
        raise CommandError(f"{path} holds no audio")
    if length > WAV_MAX_S * rate:
        raise CommandError(f"{path} is longer than the {WAV_MAX_S // 3600} hours that a WAV file can hold")
    return _at_24k(samples[:, channel], rate, path), channels


def _read_wav(path: Path) -> tuple[Pcm16, int]:
    """Samples [n, channels] and rate of a PCM WAV of 8 to 32 bits."""
    with wave.open(str(path), "rb") as file:
        width, channels, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
        blocks = []
        while block := file.readframes(_BLOCK):
            blocks.append(block)
    data = b"".join(blocks)
    data = data[: len(data) // (width * channels) * (width * channels)]
    if width == 1:  # unsigned
        flat = (np.frombuffer(data, np.uint8).astype(np.int16) - 128) << 8
    else:  # little-endian; the top 16 bits
        parts = np.frombuffer(data, np.uint8).reshape(-1, width)[:, -2:]
        flat = np.ascontiguousarray(parts).view("<i2").reshape(-1).astype(np.int16)
    return flat.reshape(-1, channels), rate


def _read_other(path: Path) -> tuple[Pcm16, int]:
    """Samples [n, channels] and rate through whichever optional reader knows the format."""
    tried: list[str] = []
    for read in (_read_soundfile, _read_sphn):
        try:
            samples, rate = read(path)
        except ImportError:
            continue
        except Exception:  # each reader has its own tree of errors, and words for programmers
            tried.append(read.__name__.removeprefix("_read_"))
            continue
        if not np.isfinite(samples).all():
            raise CommandError(f"{path} holds samples that are NaN or infinite")
        return to_pcm16(samples), rate
    if not tried:
        raise CommandError(f"{path} is no plain PCM WAV file; to read other formats: {_EXTRA}")
    raise CommandError(f"{path} is damaged, or no audio in a format that {' or '.join(tried)} can decode")


def _read_soundfile(path: Path) -> tuple[npt.NDArray[Any], int]:
    import soundfile

    samples, rate = soundfile.read(str(path), dtype="float32", always_2d=True)
    return samples, int(rate)


def _read_sphn(path: Path) -> tuple[npt.NDArray[Any], int]:
    import sphn

    samples, rate = sphn.read(str(path))
    return np.asarray(samples).T, int(rate)


def _at_24k(samples: Pcm16, rate: int, path: Path) -> Pcm16:
    if rate == RATE:
        return np.ascontiguousarray(samples)
    try:
        import soxr
    except ImportError:
        raise CommandError(f"{path} is at {rate} Hz; to read rates other than {RATE}: {_EXTRA}") from None
    return np.asarray(soxr.resample(np.ascontiguousarray(samples), rate, RATE), np.int16)


class TwoChannelWav:
    """A WAV that grows while the call goes: channel 0 what was sent, channel 1 what came back.

    Sample n stands beside sample n; at `finish` the shorter channel is filled with zeros.
    """

    def __init__(self, path: Path) -> None:
        self.samples = 0
        self._waiting = (bytearray(), bytearray())
        self._disk = path.open("wb")
        self._wav = wave.open(self._disk, "wb")  # noqa: SIM115 - closed by finish
        self._wav.setnchannels(2)
        self._wav.setsampwidth(2)
        self._wav.setframerate(RATE)

    def add_user(self, pcm: bytes) -> None:
        self._waiting[0].extend(pcm)
        self._write()

    def add_agent(self, pcm: bytes) -> None:
        self._waiting[1].extend(pcm)
        self._write()

    def finish(self) -> int:
        """Close the file. Returns the samples that were missing in one channel, and are zeros now."""
        missing = (len(self._waiting[0]) - len(self._waiting[1])) // 2
        for pcm in self._waiting:
            pcm.extend(bytes(max(map(len, self._waiting)) - len(pcm)))
        try:
            self._write()
        finally:
            with self._disk:
                self._wav.close()
        return abs(missing)

    def _write(self) -> None:
        n = min(map(len, self._waiting)) // 2 * 2
        if n == 0:
            return
        both = np.stack([np.frombuffer(bytes(pcm[:n]), "<i2") for pcm in self._waiting], axis=1)
        self._wav.writeframesraw(both.tobytes())
        self.samples += n // 2
        for pcm in self._waiting:
            del pcm[:n]
