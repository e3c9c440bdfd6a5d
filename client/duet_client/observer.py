"""Listening to calls from beside: one call's both channels and events, or the calls of a server.

    async with duet_client.observe(server) as calls:
        async for event in calls: ...       # CallStarted, CallClosed

    async with duet_client.attach(server, session_id) as observer:
        async for item in observer: ...     # Frame, or an event of duet_client.wire

Moves messages and decides nothing. Refuses to know what is done with a call.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from duet_client import wire
from duet_client.address import attach_url, headers, observe_url
from duet_client.errors import SessionLost, Unreachable, WireError
from duet_client.link import OPEN_TIMEOUT_S, Link, open_link
from duet_client.pcm import Samples, to_samples

FRAME_SAMPLES = 1_920
_HEAD = struct.Struct("<I")
_CHANNEL_BYTES = 2 * FRAME_SAMPLES
_FRAME_BYTES = _HEAD.size + 2 * _CHANNEL_BYTES
_PING_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """80 ms of a call: float32 [1920] at 24 kHz of each channel, from ms 80 * index on."""

    index: int
    user: Samples
    agent: Samples

    @classmethod
    def parse(cls, message: bytes) -> Frame:
        """A binary message of the sideband. Raises WireError."""
        if len(message) != _FRAME_BYTES:
            raise WireError("invalid_audio", f"a frame has {_FRAME_BYTES} bytes, not {len(message)}")
        user = to_samples(message[_HEAD.size : _HEAD.size + _CHANNEL_BYTES])
        return cls(_HEAD.unpack_from(message)[0], user, to_samples(message[_HEAD.size + _CHANNEL_BYTES :]))


class Observer:
    """One call, observed. Iterate for frames and events; the end comes when the server has said all.

    Iteration raises SessionLost where the connection ends in another way. Read: an observer that falls
    10 s behind is told by a `Gap` what it missed.

    attached: the server's first message.
    """

    def __init__(self, link: Link, attached: wire.Attached) -> None:
        self.attached = attached
        self._link = link

    async def send(self, command: wire.Command) -> None:
        """A control command (Mute, Unmute, InstructionsAppend, Close), or a transcriber's.

        Raises:
            SessionLost: the connection has ended.
        """
        await self._link.send(wire.dump_command(command))

    def __aiter__(self) -> Observer:
        return self

    async def __anext__(self) -> Frame | wire.Event:
        message = await _next(self._link)
        return Frame.parse(message) if isinstance(message, bytes) else wire.parse_event(message)


class Calls:
    """The calls of a server as they start and close, those that run now first. Iterate."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def __aiter__(self) -> Calls:
        return self

    async def __anext__(self) -> wire.CallStarted | wire.CallClosed:
        while True:
            message = await _next(self._link)
            event = wire.parse_event(message) if isinstance(message, str) else None
            if isinstance(event, wire.CallStarted | wire.CallClosed):
                return event


@asynccontextmanager
async def attach(
    server: str,
    session_id: str,
    *,
    key: str | None = None,
    from_ms: int | None = None,
    audio: Literal["binary", "events", "none"] = "binary",
    transcribe: bool = False,
    open_timeout_s: float = OPEN_TIMEOUT_S,
) -> AsyncIterator[Observer]:
    """Observe a running call, or one that has ended and waits for its final transcript.

    key: as a bearer token; None takes the DUET_API_KEY variable.
    from_ms: first what the call has had since then; None begins with what is said now.
    audio: one `Frame` for both channels, the events `InputAudioAppend` and `OutputAudioDelta`, or none.
    transcribe: be the call's transcriber, in place of whoever was; the only one who may send transcripts.

    Raises:
        ConnectError: NoSession, Unauthorized, Forbidden, ServerFull (too many observers) or Unreachable.
    """
    url = attach_url(server, session_id, audio=audio, from_ms=from_ms, transcribe=transcribe)
    async with _linked(url, key, "the observer was told all", open_timeout_s) as link:
        message = await link.receive()
        attached = wire.parse_event(message) if isinstance(message, str) else None
        if not isinstance(attached, wire.Attached):
            raise WireError("unknown_type", f"{url} did not begin with duet.attached")
        yield Observer(link, attached)


@asynccontextmanager
async def observe(
    server: str, *, key: str | None = None, open_timeout_s: float = OPEN_TIMEOUT_S
) -> AsyncIterator[Calls]:
    """Hear of calls as they start and close.

    Raises:
        ConnectError: Unauthorized, Forbidden or Unreachable.
    """
    url = observe_url(server)
    async with _linked(url, key, "the server stopped", open_timeout_s, _PING_TIMEOUT_S) as link:
        yield Calls(link)


@asynccontextmanager
async def _linked(
    url: str, key: str | None, before: str, open_timeout_s: float, ping_timeout_s: float | None = None
) -> AsyncIterator[Link]:
    try:
        async with asyncio.timeout(open_timeout_s):
            link = await open_link(url, headers(key), before, ping_timeout_s)
    except TimeoutError:
        raise Unreachable(f"{url} did not answer within {open_timeout_s:g} s") from None
    try:
        yield link
    finally:
        await link.close()


async def _next(link: Link) -> str | bytes:
    try:
        return await link.receive()
    except SessionLost as lost:
        if lost.close_code == wire.CloseCode.NORMAL:
            raise StopAsyncIteration from None
        raise
