"""One call: an async session over a WebSocket. Moves messages and decides nothing.

Refuses to know microphones, files and how samples are compressed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy.typing as npt

from duet_client import pcm, wire
from duet_client.address import headers, session_url
from duet_client.errors import ServerFull, SessionLost, StartRefused, Unreachable
from duet_client.link import OPEN_TIMEOUT_S, Link, open_link

_PIECE_S = 1.0  # longest audio message: far below the server's limits of 1 MiB and 30 s


class Session:
    """A running session; iterate over it for the server's events, to the end.

    Read while you send: a client that does not read is cut off once the server's outbox is full.
    Iteration ends after `SessionClosed`; it raises SessionLost where the connection ends without one.

    started: the server's answer, with the resolved configuration in `started.session`.
    """

    def __init__(
        self,
        link: Link,
        started: wire.SessionStarted,
        early: list[wire.Event],
        audio_format: wire.AudioFormat,
        binary: bool,
    ) -> None:
        self.started = started
        self.audio_format = audio_format
        self._link = link
        self._early = deque(early)
        self._binary = binary
        self._closed = False

    @property
    def id(self) -> str:
        return str(self.started.session.get("id", ""))

    async def send_audio(self, audio: bytes | npt.NDArray[Any]) -> None:
        """Send the user's audio, any length, at the session's rate.

        audio: bytes in the session's format, or samples of shape [n], float in [-1, 1] or int16
            (audio/pcm only).

        Raises:
            ValueError: samples in a G.711 session, or samples that are not as described.
            SessionLost: the connection has ended.
        """
        data = audio if isinstance(audio, bytes | bytearray | memoryview) else self._encode(audio)
        step = int(_PIECE_S * self.audio_format.rate) * self.audio_format.bytes_per_sample
        for at in range(0, len(data), step):
            piece = bytes(data[at : at + step])
            message = piece if self._binary else wire.dump_command(wire.InputAudioAppend(piece))
            await self._link.send(message)

    async def mute(self) -> None:
        """From now on the model hears silence; keep sending, the clock goes on."""
        await self._link.send(wire.dump_command(wire.Mute()))

    async def unmute(self) -> None:
        await self._link.send(wire.dump_command(wire.Unmute()))

    async def append_instructions(self, content: str) -> None:
        """Give the model a text while the call runs."""
        await self._link.send(wire.dump_command(wire.InstructionsAppend(content)))

    async def close(self) -> None:
        """Say that no audio follows; iterate on until the server has answered all of it."""
        if not self._closed:
            await self._link.send(wire.dump_command(wire.Close()))

    def __aiter__(self) -> Session:
        return self

    async def __anext__(self) -> wire.Event:
        if self._early:
            return self._early.popleft()
        if self._closed:
            raise StopAsyncIteration
        event = await _receive(self._link)
        self._closed = isinstance(event, wire.SessionClosed)
        return event

    def _encode(self, samples: npt.NDArray[Any]) -> bytes:
        if self.audio_format.type != "audio/pcm":
            raise ValueError(f"a session in {self.audio_format.type} takes encoded bytes, not samples")
        return pcm.to_bytes(samples)


@asynccontextmanager
async def connect(
    server: str,
    *,
    model: str = "default",
    audio_format: wire.AudioFormat = wire.AudioFormat.DEFAULT,
    instructions: str | None = None,
    voice: str | None = None,
    store: bool = False,
    sampling: wire.DuetOptions | None = None,
    api_key: str | None = None,
    binary: bool = True,
    open_timeout_s: float = OPEN_TIMEOUT_S,
) -> AsyncIterator[Session]:
    """Open a session; leaving the block hangs up.

    server: `ws://`, `wss://`, `http://` or `https://` base address.
    sampling: temperatures, top-k and seed; None leaves all of them to the server.
    api_key: sent as a bearer token; None takes the DUET_API_KEY variable.
    binary: raw audio messages instead of base64 in JSON; nothing else differs.

    Raises:
        ConnectError: ServerFull, Unauthorized, Forbidden, Unreachable or StartRefused.
    """
    url, extra = session_url(server, binary=binary), headers(api_key)
    start = wire.SessionStart(model, audio_format, instructions, voice, store, sampling or wire.DuetOptions())
    try:
        async with asyncio.timeout(open_timeout_s):
            link = await open_link(url, extra, "session.closed")
            try:
                started, early = await _start(link, start)
            except BaseException:
                await link.close()
                raise
    except TimeoutError:
        raise Unreachable(f"{server} did not start a session within {open_timeout_s:g} s") from None
    try:
        yield Session(link, started, early, audio_format, binary)
    finally:
        await link.close()


async def _start(link: Link, start: wire.SessionStart) -> tuple[wire.SessionStarted, list[wire.Event]]:
    early: list[wire.Event] = []
    try:
        await link.send(wire.dump_command(start))
        while True:
            event = await _receive(link)
            if isinstance(event, wire.SessionStarted):
                return event, early
            if isinstance(event, wire.Error):
                raise StartRefused(event.message, event.code, event.param)
            early.append(event)
    except SessionLost as lost:
        if lost.close_code == wire.CloseCode.TRY_AGAIN:
            raise ServerFull(str(lost), None) from None
        raise StartRefused(f"no session was started: {lost}") from None


async def _receive(link: Link) -> wire.Event:
    message = await link.receive()
    return wire.OutputAudioDelta(message) if isinstance(message, bytes) else wire.parse_event(message)
