"""One recording while it is being written: keeps to the call's timeline, whatever the disk does.

A frame that never came is replaced by silence of the same length, so that everything after it stays in
its place. Once the disk refuses, the recording ends there: a shorter one that can be trusted is worth
more than one with holes that nobody can place. Either way the loss is counted, told and logged once.

Runs on the archive's threads; refuses to know them, and what a recording looks like inside.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from audio.frames import Samples, silence
from audio.recording import FrameFlags
from server.logs import SessionLog

SPANS_TOLD = 1_000
"""Losses are told as spans, so many at most; the count goes on."""

NOBODY_HEARD = FrameFlags.DROPPED_INPUT | FrameFlags.AGENT_SILENT


class Writer(Protocol):
    """What a tape asks of `audio.recording.RecordingWriter`. Both may raise OSError."""

    def write(self, user: Samples, agent: Samples, flags: FrameFlags) -> None: ...

    def finish(self, reason: str, extra: dict[str, Any]) -> Path: ...


class Tape:
    """open_writer makes the files, once. on_lost is told how many more frames the recording lacks."""

    def __init__(
        self, open_writer: Callable[[], Writer], on_lost: Callable[[int], None], log: SessionLog
    ) -> None:
        self._open_writer = open_writer
        self._on_lost = on_lost
        self._log = log
        self._writer: Writer | None = None
        self._refused: str | None = None
        self._frame = 0
        self._lost = 0
        self._spans: list[list[int]] = []

    def write(self, user: Samples, agent: Samples, flags: FrameFlags) -> None:
        if not self._put(user, agent, flags):
            self._lose(1)
        self._frame += 1

    def skip(self, frames: int) -> None:
        """So many frames could not wait for the disk."""
        if frames and not self._lost:
            self._log.warning("the disk is too slow: the recording lacks frames from %d on", self._frame)
        for _ in range(frames):
            self._put(silence(), silence(), NOBODY_HEARD)
            self._lose(1)
            self._frame += 1

    def finish(self, reason: str, extra: dict[str, Any]) -> Path | None:
        """The finished recording, or None where the disk refused; what it holds then stays for a repair."""
        losses = {"frames_lost": self._lost, "frames_lost_spans": self._spans, "write_error": self._refused}
        try:
            return self._opened().finish(reason, {**extra, **losses})
        except Exception as error:
            self._give_up(error)
            return None

    def _put(self, user: Samples, agent: Samples, flags: FrameFlags) -> bool:
        if self._refused is None:
            try:
                self._opened().write(user, agent, flags)
            except Exception as error:
                self._give_up(error)
        return self._refused is None

    def _opened(self) -> Writer:
        if self._writer is None:
            self._writer = self._open_writer()
        return self._writer

    def _give_up(self, error: Exception) -> None:
        expected = isinstance(error, OSError)
        self._refused = str(error.strerror or error) if isinstance(error, OSError) else repr(error)
        self._log.error(
            "the recording ends at frame %d: %s",
            self._frame,
            self._refused,
            exc_info=None if expected else error,
        )

    def _lose(self, frames: int) -> None:
        self._lost += frames
        self._on_lost(frames)
        if self._spans and sum(self._spans[-1]) == self._frame:
            self._spans[-1][1] += frames
        elif len(self._spans) < SPANS_TOLD:
            self._spans.append([self._frame, frames])
