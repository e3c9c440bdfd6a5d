"""One call: an async session over a WebSocket. Moves messages and decides nothing.

Refuses to know microphones, files and how samples are compressed.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy.typing as npt
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from duet_client import pcm, wire
from duet_client.address import KEY_VARIABLE, headers, session_url
from duet_client.errors import (
    ConnectError,
    Forbidden,
    ServerFull,
    SessionLost,
    StartRefused,
    Unauthorized,
    Unreachable,
)

OPEN_TIMEOUT_S = 20.0
_CLOSE_TIMEOUT_S = 5.0
_MESSAGE_MAX = 4 * 1024 * 1024
_PIECE_S = 1.0  # longest audio message: far below the server's limits of 1 MiB and 30 s


@dataclass(frozen=True, slots=True)
class _Socket:
    """A WebSocket that speaks events and commands, and says SessionLost when it ends."""

    raw: ClientConnection

    async def send(self, message: str | bytes) -> None:
        try:
            await self.raw.send(message)
        except ConnectionClosed as closed:
            raise _lost(closed) from None

    async def receive(self) -> wire.Event:
        try:
            message = await self.raw.recv()
        except ConnectionClosed as closed:
            raise _lost(closed) from None
        return wire.OutputAudioDelta(message) if isinstance(message, bytes) else wire.parse_event(message)


class Session:
    """A running session; iterate over it for the server's events, to the end.

    Read while you send: a client that does not read is cut off once the server's outbox is full.
    Iteration ends after `SessionClosed`; it raises SessionLost where the connection ends without one.

    started: the server's answer, with the resolved configuration in `started.session`.
    """

    def __init__(
        self,
        socket: _Socket,
        started: wire.SessionStarted,
        early: list[wire.Event],
        audio_format: wire.AudioFormat,
        binary: bool,
    ) -> None:
        self.started = started
        self.audio_format = audio_format
        self._socket = socket
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
            await self._socket.send(message)

    async def mute(self) -> None:
        """From now on the model hears silence; keep sending, the clock goes on."""
        await self._socket.send(wire.dump_command(wire.Mute()))

    async def unmute(self) -> None:
        await self._socket.send(wire.dump_command(wire.Unmute()))

    async def append_instructions(self, content: str) -> None:
        """Give the model a text while the call runs."""
        await self._socket.send(wire.dump_command(wire.InstructionsAppend(content)))

    async def close(self) -> None:
        """Say that no audio follows; iterate on until the server has answered all of it."""
        if not self._closed:
            await self._socket.send(wire.dump_command(wire.Close()))

    def __aiter__(self) -> Session:
        return self

    async def __anext__(self) -> wire.Event:
        if self._early:
            return self._early.popleft()
        if self._closed:
            raise StopAsyncIteration
        event = await self._socket.receive()
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
            socket = _Socket(await _open(url, extra))
            try:
                started, early = await _start(socket, start)
            except BaseException:
                await socket.raw.close()
                raise
    except TimeoutError:
        raise Unreachable(f"{server} did not start a session within {open_timeout_s:g} s") from None
    try:
        yield Session(socket, started, early, audio_format, binary)
    finally:
        await socket.raw.close()


async def _open(url: str, extra: dict[str, str]) -> ClientConnection:
    try:
        return await open_socket(
            url,
            additional_headers=extra,
            compression=None,  # audio does not shrink, and deflate costs both sides
            open_timeout=None,
            ping_timeout=None,  # a server that slows us down reads late, pings too; that is no death
            close_timeout=_CLOSE_TIMEOUT_S,
            max_size=_MESSAGE_MAX,
        )
    except InvalidStatus as refused:
        _refused(refused, url)
    except (InvalidHandshake, EOFError, ConnectionResetError) as error:
        said = str(error) or "it hung up"
        raise Unreachable(f"{url} does not answer as a WebSocket server: {said}{_other(url)}") from None
    except ssl.SSLCertVerificationError as error:
        raise Unreachable(f"{url} cannot be trusted: {error.verify_message or error}") from None
    except ssl.SSLError as error:
        raise Unreachable(f"{url} does not answer with TLS: {error}{_other(url)}") from None
    except OSError as error:
        raise Unreachable(f"{url} cannot be reached: {error}") from None


def _other(url: str) -> str:
    """A hint for whoever mixed up plain and encrypted."""
    return f" (try {'ws:// if it speaks no TLS' if url.startswith('wss:') else 'wss:// if it speaks TLS'})"


async def _start(socket: _Socket, start: wire.SessionStart) -> tuple[wire.SessionStarted, list[wire.Event]]:
    early: list[wire.Event] = []
    try:
        await socket.send(wire.dump_command(start))
        while True:
            event = await socket.receive()
            if isinstance(event, wire.SessionStarted):
                return event, early
            if isinstance(event, wire.Error):
                raise StartRefused(event.message, event.code, event.param)
            early.append(event)
    except SessionLost as lost:
        if lost.close_code == wire.CloseCode.TRY_AGAIN:
            raise ServerFull(str(lost), None) from None
        raise StartRefused(f"no session was started: {lost}") from None


def _lost(closed: ConnectionClosed) -> SessionLost:
    code = closed.rcvd.code if closed.rcvd else 1006
    reason = f": {closed.rcvd.reason}" if closed.rcvd and closed.rcvd.reason else ""
    return SessionLost(f"the connection ended before session.closed (code {code}{reason})", code)


def _refused(refused: InvalidStatus, url: str) -> NoReturn:
    response = refused.response
    said = _message(response.body or b"")
    match response.status_code:
        case 401:
            said = said or "the API key is missing or wrong"
            raise Unauthorized(f"{said} (set the variable {KEY_VARIABLE})")
        case 403:
            raise Forbidden(said or "the server does not serve this origin")
        case 503:
            raise ServerFull(said or "the server is full", _seconds(response.headers.get("Retry-After")))
        case status:
            raise ConnectError(f"{url} answered HTTP {status}" + (f": {said}" if said else ""))


def _message(body: bytes) -> str:
    """`error.message` of a refusal's JSON body, or nothing where it has another shape."""
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _seconds(retry_after: str | None) -> float | None:
    return float(retry_after) if retry_after is not None and retry_after.isdecimal() else None
