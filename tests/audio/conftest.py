"""What several tests of this room share: Ogg pages, a voice, a disk that is full."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import numpy as np
import pytest

from audio.frames import Samples
from audio.ogg import checksum

MakePage = Callable[..., bytes]
DiskOf = Callable[[int], AbstractContextManager[None]]


def _page(*packets: bytes, begins: bool = False, lacing: bytes | None = None) -> bytes:
    """An Ogg page of whole packets, laid out by hand; `lacing` makes it another one."""
    if lacing is None:
        lacing = b"".join(b"\xff" * (len(one) // 255) + bytes([len(one) % 255]) for one in packets)
    head = b"OggS\0" + bytes([2 if begins else 0]) + bytes(8) + b"\x2a\0\0\0" + bytes(4)
    page = head + bytes(4) + bytes([len(lacing)]) + lacing + b"".join(packets)
    return page[:22] + checksum(page) + page[26:]


@pytest.fixture
def make_page() -> MakePage:
    return _page


@pytest.fixture
def speech() -> Samples:
    """Two seconds of something like a voice: gliding harmonics that swell and fade, [48000]."""
    t = np.arange(48_000) / 24_000
    pitch = 2 * np.pi * np.cumsum(120 + 40 * np.sin(2 * np.pi * 1.3 * t)) / 24_000
    voice = np.sum([np.sin(k * pitch) / k for k in range(1, 20)], axis=0)
    swell = np.clip(np.sin(2 * np.pi * 2.1 * t), 0, 1)
    samples: Samples = (0.25 * voice * swell).astype(np.float32)
    return samples


@contextmanager
def _disk_of(size: int) -> Iterator[None]:
    """No file may grow past `size`, which the kernel refuses as it refuses a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def disk_of() -> DiskOf:
    return _disk_of
