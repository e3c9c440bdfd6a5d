"""The WAV layout of a recording: what its header says and where a frame lies.

Two channels of s16le at 24 kHz, interleaved. The header has a fixed length: a JUNK chunk keeps
the place of the `ds64` chunk that turns the file into RF64 once it is too long for 32-bit sizes
(EBU Tech 3306, section 3). Pure: bytes and numbers. Refuses to know files.
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from audio.formats import PCM16_SCALE, to_pcm16
from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, Samples

CHANNELS = 2
_BLOCK_BYTES = CHANNELS * 2
FRAME_BYTES = FRAME_SAMPLES * _BLOCK_BYTES
HEADER_BYTES = 80
_SIZE_MAX = 0xFFFF_FFFF
_DS64_BYTES = 28
_FORMAT = struct.pack(
    "<4sIHHIIHH", b"fmt ", 16, 1, CHANNELS, SAMPLE_RATE, SAMPLE_RATE * _BLOCK_BYTES, _BLOCK_BYTES, 16
)
_FORMAT_AT = 12 + 8 + _DS64_BYTES


def header(frames: int) -> bytes:
    """The 80 bytes before the samples of a recording of that many frames."""
    data_bytes = frames * FRAME_BYTES
    riff_bytes = HEADER_BYTES - 8 + data_bytes
    if riff_bytes < _SIZE_MAX:
        form, reserved, ds64 = b"RIFF", b"JUNK", bytes(_DS64_BYTES)
    else:
        form, reserved = b"RF64", b"ds64"
        ds64 = struct.pack("<QQQI", riff_bytes, data_bytes, frames * FRAME_SAMPLES, 0)
    return b"".join(
        (
            struct.pack("<4sI4s", form, min(riff_bytes, _SIZE_MAX), b"WAVE"),
            struct.pack("<4sI", reserved, _DS64_BYTES) + ds64,
            _FORMAT,
            struct.pack("<4sI", b"data", min(data_bytes, _SIZE_MAX)),
        )
    )


def is_ours(start: bytes) -> bool:
    """Whether a file that starts with these bytes was laid out by `header`, be it only begun."""
    if len(start) < HEADER_BYTES:
        return header(0).startswith(start)
    fixed = slice(0, 4), slice(8, 20), slice(_FORMAT_AT, HEADER_BYTES - 4)
    return any(all(start[part] == ours[part] for part in fixed) for ours in (header(0), header(_SIZE_MAX)))


def offset(frame: int) -> int:
    """Where in the file a frame begins."""
    return HEADER_BYTES + frame * FRAME_BYTES


def whole_frames(file_bytes: int) -> int:
    """How many frames a file of that length holds in full."""
    return max(0, file_bytes - HEADER_BYTES) // FRAME_BYTES


def pack(user: Samples, agent: Samples) -> bytes:
    """One frame, both channels.

    Raises:
        ValueError: a channel that is not float32 [1920].
    """
    for name, channel in (("user", user), ("agent", agent)):
        if channel.shape != (FRAME_SAMPLES,):
            raise ValueError(f"{name} must be one frame of {FRAME_SAMPLES} samples, not {channel.shape}")
    return np.stack([to_pcm16(user), to_pcm16(agent)], axis=1).astype("<i2").tobytes()


def unpack(data: bytes) -> npt.NDArray[np.float32]:
    """Whole frames of bytes to float32 [n, 2]."""
    pcm = np.frombuffer(data, "<i2").astype(np.float32)
    return (pcm / np.float32(PCM16_SCALE)).reshape(-1, CHANNELS)
