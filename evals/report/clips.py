"""A conversation's sound as Ogg-Opus small enough to lie inside a page: user left, agent right.

The same samples give the same bytes: the encoder numbers its streams at random, so every page gets
a fixed number back. Measured: what is at time t in the samples is at t when decoded, to a
millisecond (the encoder's look-ahead is declared in the stream and skipped by players).

Refuses to know where the samples come from.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import soundfile

from audio.ogg import checksum

COMPRESSION = 0.92
"""libsndfile's scale; for Opus this is 26 kbit/s a channel. With a fifth less the codec was measured to let
a hard onset of one channel into the other for a moment, which in a report on overlap would mislead."""
CLIP_BYTES_PER_S = 6_800
"""What a second of two busy channels takes."""
OPUS_RATES = (8_000, 12_000, 16_000, 24_000, 48_000)
_SERIAL = slice(14, 18)
_STREAM_NUMBER = (1).to_bytes(4, "little")

Stereo = npt.NDArray[np.float32]


def encode_clip(blocks: Iterable[Stereo], rate: int) -> bytes:
    """Blocks of float32 [n, 2] in [-1, 1] at one of `OPUS_RATES`, in order, to one Ogg-Opus stream."""
    file = io.BytesIO()
    with soundfile.SoundFile(
        file, "w", rate, channels=2, format="OGG", subtype="OPUS", compression_level=COMPRESSION
    ) as encoder:
        for block in blocks:
            encoder.write(np.clip(block, -1.0, 1.0))
    return b"".join(_renumbered(page) for page in _pages(file.getvalue()))


def _pages(stream: bytes) -> Iterator[bytes]:
    """The pages of a stream that an encoder has just written (RFC 3533, section 6)."""
    at = 0
    while at < len(stream):
        lacing = stream[at + 27 : at + 27 + stream[at + 26]]
        length = 27 + len(lacing) + sum(lacing)
        yield stream[at : at + length]
        at += length


def _renumbered(page: bytes) -> bytes:
    page = page[: _SERIAL.start] + _STREAM_NUMBER + page[_SERIAL.stop :]
    return page[:22] + checksum(page) + page[26:]
