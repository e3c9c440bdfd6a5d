"""The Moshi wire: binary messages whose first byte is their kind, Ogg-Opus both ways, one session.

Pure. Kinds and parameters: what the clients of the moshi package and of PersonaPlex speak. Refuses to
know sockets and how a session runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from enum import IntEnum
from typing import Any

from audio.framer import Framer
from audio.opus import OggOpusReader, OggOpusWriter
from server.actions import AgentFrame, AgentText, Deed, MuteSet, Notice, Problem, Said, Send
from server.call import Call, Resolved, Setup
from server.endings import BAD_AUDIO
from server.moshi_query import MoshiOptions
from server.session import Tail

PIECE_BYTES = 1 << 12
"""A second at 32 kbit/s, more than speech takes."""
SILENCE_AFTER_S = 4.0
"""These clients give up after 10 s without a message, so a silent one must hear something before."""


class Kind(IntEnum):
    """A message's first byte."""

    HANDSHAKE = 0
    AUDIO = 1
    TEXT = 2
    CONTROL = 3
    METADATA = 4
    ERROR = 5
    PING = 6


class MoshiCall(Call):
    """discarded: messages that say nothing here: unknown kinds, empty ones, text messages.
    unheard_bytes: of audio that came and was never decoded, since the session had ended.
    """

    wire = "moshi"

    def __init__(self, setup: Setup, options: MoshiOptions, now: float) -> None:
        silence_after_s = min(setup.limits.silence_after_s, SILENCE_AFTER_S)
        super().__init__(setup, replace(setup.limits, silence_after_s=silence_after_s), now)
        self._options = options
        self._reader = OggOpusReader()
        self._writer = OggOpusWriter()
        self._framer = Framer()
        self.discarded = self.unheard_bytes = 0

    def open(self, now: float) -> list[Deed]:
        audio = {"type": "audio/ogg; codecs=opus", "rate": 24_000}
        return [self._join(Resolved(self._options.sampling, audio, self._setup.records(False)), now)]

    def receive(self, message: str | bytes, now: float) -> list[Deed]:
        kind = message[0] if isinstance(message, bytes) and message else None
        if isinstance(message, bytes) and kind == Kind.AUDIO:
            self._take_audio(message[1:], PIECE_BYTES)
            return self.go_on(now)
        if kind == Kind.PING:
            self._session.command(now)
            return [_message(Kind.PING)]
        self.discarded += 1
        return []

    def _hear(self, audio: bytes, now: float) -> list[Deed]:
        try:
            samples = self._reader.push(audio)
        except ValueError as error:
            return self.end(replace(BAD_AUDIO, message=f"the audio cannot be decoded: {error}"), now)
        return self._render(self._session.hear(self._framer.push(samples), now))

    def _frames_in(self, size: int) -> int:
        """Only decoding would tell; the bytes are counted instead."""
        self.unheard_bytes += size
        return 0

    def _flush(self) -> Tail:
        last = self._framer.flush()
        return ([], 0) if last is None else ([last[0]], last[1])

    def _notes(self) -> dict[str, Any]:
        return {"discarded_messages": self.discarded, "unheard_bytes": self.unheard_bytes}

    def _greet(self) -> Iterable[Send]:
        yield _message(Kind.HANDSHAKE)
        yield _metadata(
            session_id=self._setup.session_id,
            model=self._setup.info.name,
            sampling=asdict(self._options.sampling),
            ignored=list(self._options.ignored),
        )

    def _say(self, said: Said) -> Iterable[Send]:
        match said:
            case AgentFrame(_, pcm, arrived):
                pages = self._writer.push(pcm)
                return self._audio(bytes([Kind.AUDIO]) + pages if pages else b"", arrived)
            case AgentText(_, text):
                return [_message(Kind.TEXT, text.encode())]
            case MuteSet(on):
                return [_metadata(muted=on)]
            case Notice(code, message):
                return [_metadata(info={"code": code, "message": message})]
            case Problem(_, _, message):
                return [_message(Kind.ERROR, message.encode())]
        return []  # usage, words heard, frames missed and the end have no kind here


def _message(kind: Kind, payload: bytes = b"") -> Send:
    return Send(bytes([kind]) + payload)


def _metadata(**values: Any) -> Send:
    return _message(Kind.METADATA, json.dumps(values).encode())
