"""Microphone and loudspeaker, through PortAudio: the only file that knows sounddevice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from duet_client.errors import CommandError
from duet_client.speaker import PlayBuffer
from duet_client.wire import FRAME_MS, AudioFormat

_RATE = AudioFormat.DEFAULT.rate
_BLOCK = _RATE * FRAME_MS // 1000
_QUEUE_FRAMES = 25


@dataclass(slots=True)
class Microphone:
    """Blocks of the user's voice, s16le; when nobody takes them, the oldest goes and is counted."""

    loop: asyncio.AbstractEventLoop
    dropped: int = 0
    _queue: asyncio.Queue[bytes] = field(default_factory=lambda: asyncio.Queue(_QUEUE_FRAMES))

    def heard(self, block: bytes) -> None:
        """Called from the audio thread."""
        self.loop.call_soon_threadsafe(self._put, block)

    def _put(self, block: bytes) -> None:
        if self._queue.full():
            self._queue.get_nowait()
            self.dropped += 1
        self._queue.put_nowait(block)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            yield await self._queue.get()


@contextmanager
def open_devices(microphone: Microphone, speaker: PlayBuffer) -> Iterator[None]:
    """The default devices, running, until the block is left.

    Raises:
        CommandError: the package, PortAudio or a device is missing.
    """
    sounddevice = _sounddevice()

    def on_input(data: Any, frames: int, time: Any, status: Any) -> None:  # noqa: ARG001
        microphone.heard(bytes(data))

    def on_output(data: Any, frames: int, time: Any, status: Any) -> None:  # noqa: ARG001
        data[:] = speaker.pull(len(data))

    shape: dict[str, Any] = {"samplerate": _RATE, "channels": 1, "dtype": "int16", "blocksize": _BLOCK}
    with ExitStack() as running:
        try:
            running.enter_context(sounddevice.RawInputStream(callback=on_input, **shape))
            running.enter_context(sounddevice.RawOutputStream(callback=on_output, **shape))
        except (sounddevice.PortAudioError, ValueError) as error:
            raise CommandError(f"no usable microphone and loudspeaker at {_RATE} Hz: {error}") from None
        yield


def _sounddevice() -> ModuleType:
    try:
        import sounddevice
    except ImportError:
        raise CommandError("talk needs one more package: pip install 'duet-client[talk]'") from None
    except OSError:  # the package is there, the library under it is not
        raise CommandError(
            "talk needs the PortAudio library (on Debian: apt install libportaudio2)"
        ) from None
    module: ModuleType = sounddevice
    return module
