"""One recording while it is written: it keeps to the call's timeline, whatever the disk does.

A frame that could not wait for a slow disk is replaced by silence, so that everything after it stays
in its place. Once the disk refuses a frame, the recording ends there (`audio.recording`). Either way
the loss is counted, told in the metadata and logged once.

Runs on the archive's threads; refuses to know them, and calls.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from audio.frames import Samples, silence
from audio.recording import FrameFlags, RecordingError
from server.logs import SessionLog

SPANS_TOLD = 1_000
"""The metadata names so many spans of replaced frames at most; the count goes on."""
REPLACED = FrameFlags.DROPPED_INPUT | FrameFlags.AGENT_SILENT


class Writer(Protocol):
    """What a tape asks of `audio.recording.RecordingWriter`."""

    error: str | None

    def write(self, user: Samples, agent: Samples, flags: FrameFlags) -> None: ...

    def finish(self, reason: str, extra: dict[str, Any]) -> Path: ...


class Tape:
    """open_writer makes the files. on_lost is told how many more frames the recording lacks."""

    def __init__(
        self, open_writer: Callable[[], Writer], on_lost: Callable[[int], None], log: SessionLog
    ) -> None:
        self._open_writer = open_writer
        self._on_lost = on_lost
        self._log = log
        self._writer: Writer | None = None
        self._failed = False
        self._frames = 0
        self._replaced = 0
        self._spans: list[list[int]] = []

    def start(self) -> None:
        """Makes the files, if that was not done or tried before. Without them nothing is recorded."""
        if self._writer is None and not self._failed:
            try:
                self._writer = self._open_writer()
            except Exception as error:
                self._fail(error)

    def write(self, user: Samples, agent: Samples, flags: FrameFlags) -> None:
        if not self._put(user, agent, flags):
            self._on_lost(1)

    def skip(self, frames: int) -> None:
        """So many frames could not wait."""
        if not frames:
            return
        if not self._replaced:
            self._log.warning(
                "the disk is slow: silence replaces frames of the recording from %d on", self._frames
            )
        if len(self._spans) < SPANS_TOLD:
            self._spans.append([self._frames, frames])
        self._replaced += frames
        self._on_lost(frames)
        for _ in range(frames):
            self._put(silence(), silence(), REPLACED)

    def finish(self, reason: str, extra: dict[str, Any]) -> Path | None:
        """The finished recording; None where there is none, or it is left for a repair."""
        self.start()
        replaced = {"frames_replaced": self._replaced, "replaced": self._spans} if self._replaced else {}
        try:
            return self._writer.finish(reason, {**extra, **replaced}) if self._writer else None
        except Exception as error:
            self._fail(error)
            return None

    def leave(self) -> None:
        """Nobody can finish it now."""
        self._log.error("the recording could not be closed and is left for the next start to repair")

    def _put(self, user: Samples, agent: Samples, flags: FrameFlags) -> bool:
        """Whether the frame is on disk."""
        self._frames += 1
        self.start()
        if self._writer is None:
            return False
        try:
            self._writer.write(user, agent, flags)
        except Exception as error:
            self._fail(error)
        return self._writer.error is None

    def _fail(self, error: Exception) -> None:
        if not self._failed:
            self._log.error("%s", error, exc_info=None if isinstance(error, RecordingError) else error)
        self._failed = True
