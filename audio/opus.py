"""Ogg-Opus streams to samples and back: the only file that knows the binding, sphn.

Measured delay of writer and reader together: 156 samples (6.5 ms), the encoder's look-ahead;
content comes out that much late, and nothing is lost at the start. A stream's `pre-skip` field is
not applied: sphn's writer, whose streams Moshi clients send, claims 80 ms there but delays by
6.5, so skipping would cut speech and cost a frame. `output gain` is not applied either.

Refuses to know sockets and message kinds.
"""

from __future__ import annotations

import numpy as np
import sphn

from audio.formats import finite
from audio.frames import SAMPLE_RATE, Samples
from audio.ogg import PageSplitter, begins_stream, body

PUSH_LIMIT_S = 60


def _check_head(head: bytes) -> None:
    """The first packet of a stream, RFC 7845 section 5.1."""
    if not head.startswith(b"OpusHead") or len(head) < 19:
        raise ValueError(f"not an Opus stream: it begins with {head[:8]!r} instead of an OpusHead packet")
    channels, mapping = head[9], head[18]
    if channels not in (1, 2) or mapping != 0:
        raise ValueError(f"Opus must be mono or stereo, not {channels} channels of mapping family {mapping}")


class OggOpusReader:
    """Bytes of an Ogg-Opus stream, split anywhere, to 24 kHz mono; stereo is mixed down.

    Any packet length and any number of packets a page will do, and so will a stream that is
    joined after its headers. After an error the stream is over: every later push raises too.
    """

    def __init__(self) -> None:
        self._splitter = PageSplitter()
        self._decoder = sphn.OpusStreamReader(SAMPLE_RATE)
        self._broken: str | None = None

    def push(self, data: bytes) -> Samples:
        """Take bytes; return float32 [n], the sound of the pages they complete, often none.

        Raises:
            ValueError: not Ogg, not Opus, damaged, or more than `PUSH_LIMIT_S` of sound in one
                push (a packet of two bytes may claim 120 ms, so that the length of a message does
                not bound the memory it takes).
        """
        if self._broken is not None:
            raise ValueError(self._broken)
        try:
            return self._decode(self._splitter.push(data))
        except ValueError as error:
            self._broken = str(error)
            raise

    def _decode(self, pages: list[bytes]) -> Samples:
        parts: list[Samples] = [np.zeros(0, np.float32)]
        total = 0
        for page in pages:
            if begins_stream(page):
                _check_head(body(page))
            parts.append(self._sound(page))
            total += len(parts[-1])
            if total > PUSH_LIMIT_S * SAMPLE_RATE:
                raise ValueError(f"more than {PUSH_LIMIT_S} s of Opus in one push")
        return np.concatenate(parts)

    def _sound(self, page: bytes) -> Samples:
        try:
            sound: Samples = self._decoder.append_bytes(page)
        except ValueError as error:
            raise ValueError(f"broken Opus packet ({error})") from error
        return np.clip(sound, -1, 1)  # a forged packet may decode to millions


class OggOpusWriter:
    """24 kHz mono to an Ogg-Opus stream: the headers first, then a page for every 40 ms."""

    def __init__(self) -> None:
        self._encoder = sphn.OpusStreamWriter(SAMPLE_RATE)

    def push(self, samples: Samples) -> bytes:
        """Take float32 [n]; return the pages they complete; what is not finite becomes 0.

        A multiple of 960 samples comes out whole, a frame being two pages; else up to 959 wait.
        """
        pages: bytes = self._encoder.append_pcm(finite(samples)[0])
        return pages
