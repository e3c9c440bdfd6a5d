"""What stands between the network and a loudspeaker: a bounded store of bytes that two threads share.

Refuses to know devices. Silence fills gaps, and every gap and every drop is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from duet_client.wire import AudioFormat

_FRAME_BYTES = AudioFormat.DEFAULT.frame_bytes


@dataclass(slots=True)
class PlayBuffer:
    """Audio on its way to the loudspeaker, s16le.

    lead_bytes: how much must be there before playing starts, and again after a gap.
    limit_bytes: what it holds at most; beyond, the oldest goes, so that the delay stays bounded.
    """

    lead_bytes: int = 2 * _FRAME_BYTES
    limit_bytes: int = 12 * _FRAME_BYTES
    gaps: int = 0
    dropped_bytes: int = 0
    _data: bytearray = field(default_factory=bytearray)
    _playing: bool = False
    _lock: Lock = field(default_factory=Lock)

    def push(self, data: bytes) -> None:
        with self._lock:
            self._data.extend(data)
            over = max(0, len(self._data) - self.limit_bytes)
            over += over % 2
            self.dropped_bytes += over
            del self._data[:over]

    def pull(self, size: int) -> bytes:
        """Exactly `size` bytes, an even number: what there is, then silence."""
        with self._lock:
            if not self._playing and len(self._data) < self.lead_bytes:
                return bytes(size)
            data = bytes(self._data[:size])
            del self._data[:size]
            self._playing = len(data) == size
            self.gaps += not self._playing
            return data + bytes(size - len(data))
