"""Microphone and loudspeaker, through a stand-in for sounddevice."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from duet_client.devices import Microphone, open_devices
from duet_client.errors import CommandError
from duet_client.speaker import PlayBuffer


class Stream:
    """One device: running while entered, and called back by hand."""

    def __init__(self, callback: Callable[..., None], **shape: Any) -> None:
        self.callback, self.shape, self.running = callback, shape, False

    def __enter__(self) -> Stream:
        self.running = True
        return self

    def __exit__(self, *_: object) -> None:
        self.running = False


class SoundDevice(ModuleType):
    """The few names of the package that are used."""

    class PortAudioError(Exception):
        pass

    def __init__(self, missing: str = "") -> None:
        super().__init__("sounddevice")
        self.missing, self.streams = missing, dict[str, Stream]()

    def _open(self, kind: str, **shape: Any) -> Stream:
        if kind == self.missing:
            raise self.PortAudioError(f"no {kind} device")
        self.streams[kind] = Stream(**shape)
        return self.streams[kind]

    def RawInputStream(self, **shape: Any) -> Stream:
        return self._open("input", **shape)

    def RawOutputStream(self, **shape: Any) -> Stream:
        return self._open("output", **shape)


def test_the_microphone_s_blocks_come_in_order_and_the_speaker_is_fed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module, speaker = SoundDevice(), PlayBuffer(lead_bytes=2)
    monkeypatch.setitem(sys.modules, "sounddevice", module)

    async def run() -> list[bytes]:
        microphone = Microphone(asyncio.get_running_loop())
        with open_devices(microphone, speaker):
            source, sink = module.streams["input"], module.streams["output"]
            assert source.shape["samplerate"] == sink.shape["samplerate"] == 24_000
            for block in (b"ab", b"cd"):
                source.callback(memoryview(block), 1, None, None)
            speaker.push(b"xy")
            out = bytearray(4)
            sink.callback(out, 2, None, None)
            assert out == b"xy\0\0"
            blocks = aiter(microphone)
            heard = [await anext(blocks), await anext(blocks)]
        assert not source.running
        assert not sink.running
        return heard

    assert asyncio.run(run()) == [b"ab", b"cd"]


def test_blocks_that_nobody_takes_are_dropped_oldest_first_and_counted() -> None:
    async def run() -> tuple[bytes, int]:
        microphone = Microphone(asyncio.get_running_loop())
        for n in range(27):
            microphone.heard(bytes([n, 0]))
        first = await anext(aiter(microphone))
        return first, microphone.dropped

    assert asyncio.run(run()) == (bytes([2, 0]), 2)


@pytest.mark.parametrize("missing", ["input", "output"])
def test_a_missing_device_is_one_line_and_leaves_the_other_closed(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    module = SoundDevice(missing)
    monkeypatch.setitem(sys.modules, "sounddevice", module)

    async def run() -> None:
        with open_devices(Microphone(asyncio.get_running_loop()), PlayBuffer()):
            pass

    with pytest.raises(CommandError, match=f"no usable microphone and loudspeaker.*no {missing} device"):
        asyncio.run(run())
    assert not any(stream.running for stream in module.streams.values())
