"""A conversation in the terminal: voice in, voice out, and the agent's words as they come.

Refuses to know devices: it takes blocks of audio from whoever has them, and a buffer to fill.
"""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import TextIO

from duet_client import wire
from duet_client.duplex import duplex
from duet_client.session import Session
from duet_client.speaker import PlayBuffer


async def converse(
    session: Session, voice: AsyncIterable[bytes], speaker: PlayBuffer, words: TextIO, notices: TextIO
) -> None:
    """Talk until `voice` ends or the server closes.

    voice: blocks of s16le at 24 kHz, any length. words, notices: where the agent's words and the
    server's notes are written.
    """
    await duplex(_send(session, voice), _listen(session, speaker, words, notices))


async def _listen(session: Session, speaker: PlayBuffer, words: TextIO, notices: TextIO) -> None:
    async for event in session:
        _take(event, speaker, words, notices)


async def _send(session: Session, voice: AsyncIterable[bytes]) -> None:
    async for block in voice:
        await session.send_audio(block)
    await session.close()


def _take(event: wire.Event, speaker: PlayBuffer, words: TextIO, notices: TextIO) -> None:
    match event:
        case wire.OutputAudioDelta(audio=audio):
            speaker.push(audio)
        case wire.OutputTranscriptDelta(delta=text):
            print(text, end="", flush=True, file=words)
        case wire.Info() | wire.Error():
            print(f"[{event.code}] {event.message}", file=notices)
        case wire.SessionClosed(reason=reason):
            print(f"\nThe session ended: {reason}.", file=notices)
        case _:
            pass
