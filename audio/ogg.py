"""Ogg pages: cut a byte stream into pages of one packet each and refuse what is not Ogg.

The Opus binding takes pages, but it waits in silence after some kinds of damage, unpacks an empty
packet into five seconds of sound, collects a packet without end, and fails on a page that holds
more than five seconds, as pages of recorded files may; so it is given none of these. Layout and
checksum: RFC 3533, section 6. Refuses to know Opus.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

_CAPTURE = b"OggS"
_HEADER_BYTES = 27
_CHECKSUM = slice(22, 26)
_BEGINS_STREAM = 0x02
PACKET_BYTES_MAX = 65_536

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def checksum(page: bytes) -> bytes:
    """The four bytes of a page's checksum field, reckoned with that field as zeros.

    Ogg's CRC-32 has zlib's polynomial with the bits of each byte in the other order, and neither
    of zlib's inversions.
    """
    blank = page[: _CHECKSUM.start] + bytes(4) + page[_CHECKSUM.stop :]
    crc = zlib.crc32(blank.translate(_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return crc.to_bytes(4, "big").translate(_REVERSED)


def begins_stream(page: bytes) -> bool:
    """Whether this page is the first of a logical stream."""
    return bool(page[5] & _BEGINS_STREAM)


def body(page: bytes) -> bytes:
    """What a page carries."""
    return page[_HEADER_BYTES + page[26] :]


class PageSplitter:
    """Bytes split anywhere in, pages out; holds back less than a page (64 KiB)."""

    def __init__(self) -> None:
        self._rest = b""
        self._packet_bytes = 0  # of the packet that is not finished yet

    def push(self, data: bytes) -> list[bytes]:
        """Take bytes; return the packets they complete, in order, each as a page of its own.

        A packet that goes on in the sender's next page goes on in the next page here; empty
        packets are left out. The checksum field of these pages is the sender's and means nothing.

        Raises:
            ValueError: the stream is broken here; what follows cannot be trusted.
        """
        waiting = memoryview(self._rest + data)
        pages: list[bytes] = []
        start = 0
        while (length := _page_length(waiting[start:])) is not None:
            page = bytes(waiting[start : start + length])
            if page[_CHECKSUM] != checksum(page):
                raise ValueError("broken Ogg page: its checksum does not match its content")
            pages += self._packets(page)
            start += length
        self._rest = bytes(waiting[start:])
        return pages

    def _packets(self, page: bytes) -> Iterator[bytes]:
        """The page once for each packet that it holds or holds a part of."""
        flags, lacing = page[5], page[_HEADER_BYTES : _HEADER_BYTES + page[26]]
        at = _HEADER_BYTES + len(lacing)
        first = 0
        for last, value in enumerate(lacing, start=1):
            self._packet_bytes += value
            if self._packet_bytes > PACKET_BYTES_MAX:
                raise ValueError(f"an Ogg packet is longer than {PACKET_BYTES_MAX} bytes")
            if value == 255 and last < len(lacing):
                continue
            part = lacing[first:last]
            if self._packet_bytes > 0:
                head = page[:5] + bytes([flags]) + page[6:26] + bytes([len(part)]) + part
                yield head + page[at : at + sum(part)]
                flags = 0
            self._packet_bytes = 0 if value < 255 else self._packet_bytes
            first, at = last, at + sum(part)


def _page_length(waiting: memoryview) -> int | None:
    """Length of the page that `waiting` starts with; None while it is not complete."""
    start = bytes(waiting[:5])
    if not (_CAPTURE + b"\0").startswith(start):
        raise ValueError(f"not an Ogg page: it starts with {start!r} instead of {_CAPTURE!r} and version 0")
    if len(waiting) < _HEADER_BYTES:
        return None
    body_at = _HEADER_BYTES + waiting[26]
    if len(waiting) < body_at:
        return None
    length = body_at + sum(waiting[_HEADER_BYTES:body_at])
    return length if len(waiting) >= length else None
