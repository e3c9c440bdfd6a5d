"""Writing a call to disk as it goes: two channels, frame by frame, nothing to lose at a kill.

What a killed process leaves is whole frames on both channels; `open_recording` puts the rest in
order. Every step of `finish` leaves a readable recording too: the FLAC appears under its name
when it is complete and proven, then the metadata names it, then the WAV goes.

Refuses to know sessions, clocks and sockets. All calls block on the disk.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Literal

from audio import flac, wav
from audio.frame_flags import FrameFlags
from audio.frames import Samples
from audio.recording_files import (
    Metadata,
    RecordingError,
    RecordingFiles,
    create,
    lock,
    replace_metadata,
    write_at,
)
from audio.recording_reader import LAYOUT, Recording, described, open_recording

__all__ = ["FrameFlags", "Recording", "RecordingError", "RecordingWriter", "open_recording"]

Container = Literal["wav", "flac"]

_SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_OURS = {
    *("session_id", "status", "reason", "container", "error", "frames_lost"),
    *LAYOUT,
    *described(b"", 0),
}


class RecordingWriter:
    """One call's recording in `folder`, user on channel 0, agent on channel 1, s16 at 24 kHz.

    Files are for their owner only, and so is the folder if it is made here.

    frames: written so far.
    frames_lost: that came after a write had failed.
    error: what failed, or None.

    Raises:
        ValueError: `session_id` is no plain name, or `metadata` sets a field to another value than
            the recording does, or `container` is unknown.
        RecordingError: the files cannot be made, or this session has a recording already.
    """

    def __init__(self, folder: Path, session_id: str, metadata: Metadata, container: Container) -> None:
        if not _SESSION_ID.fullmatch(session_id):
            raise ValueError(f"session_id must be letters, digits, _ and -, at most 128, not {session_id!r}")
        if container not in ("wav", "flac"):
            raise ValueError(f"container must be wav or flac, not {container!r}")
        self._container = container
        ours = {"session_id": session_id, **LAYOUT, "status": "open", "container": "wav"}
        _check_free(metadata, ours)
        self._metadata: Metadata = {"session_id": session_id, **metadata, **ours}
        self._files = RecordingFiles(folder / session_id)
        self.frames = self.frames_lost = 0
        self.error: str | None = None
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._start()
        except OSError as error:
            raise RecordingError(f"cannot start recording {session_id}: {error}") from error

    def _start(self) -> None:
        """The WAV first, for it is what a repair looks at."""
        if self._files.json.exists():  # the WAV of one that ended as FLAC is gone
            raise FileExistsError("there is one already")
        with ExitStack() as undo:
            self._wav = undo.enter_context(create(self._files.wav))
            undo.callback(self._files.wav.unlink)
            lock(self._wav)
            write_at(self._wav, wav.header(0), 0)
            self._flags = undo.enter_context(create(self._files.flags))
            undo.callback(self._files.flags.unlink)
            replace_metadata(self._files, self._metadata)
            undo.pop_all()

    def write(self, user: Samples, agent: Samples, flags: FrameFlags) -> None:
        """Append one frame, float32 [1920] each.

        Raises:
            ValueError: a channel that is not one frame.
            RecordingError: the disk did not take it. Once: what was written before stays, and
                frames that come after are counted in `frames_lost` and not written.
        """
        frame = wav.pack(user, agent)
        if self.error is not None:
            self.frames_lost += 1
            return
        try:
            write_at(self._flags, bytes([flags]), self.frames)
            write_at(self._wav, frame, wav.offset(self.frames))
            write_at(self._wav, wav.header(self.frames + 1), 0)
        except OSError as error:
            self._give_up(error)
            raise RecordingError(f"recording {self._files.base.name} stopped: {error}") from error
        self.frames += 1

    def finish(self, reason: str, extra: Metadata) -> Path:
        """Close the recording and return its audio file; `extra` joins the metadata.

        Where FLAC was asked for and cannot be made, the WAV stays, and `error` in the metadata
        says why. Nothing may be called after this.

        Raises:
            ValueError: `extra` sets a field that the recording does; it is still open.
            RecordingError: the metadata cannot be written; the audio is there, and
                `open_recording` will repair the rest.
        """
        _check_free(extra, self._metadata)
        with self._wav, self._flags:
            try:
                audio = self._made_smaller()
                replace_metadata(self._files, self._summary(audio, reason, extra))
                self._files.remove_all_but(audio)
            except OSError as error:
                raise RecordingError(f"cannot finish recording {self._files.base.name}: {error}") from error
        return audio

    def _give_up(self, error: OSError) -> None:
        self.error = str(error)
        self.frames_lost += 1
        with suppress(OSError):  # the reader cuts to whole frames in any case
            self._wav.truncate(wav.offset(self.frames))
            self._flags.truncate(self.frames)

    def _made_smaller(self) -> Path:
        """The audio file that is to stay. An empty FLAC is no valid file, so that an empty WAV stays."""
        if self._container == "wav" or self.frames == 0:
            return self._files.wav
        try:
            flac.convert(self._files.wav, self._files.flac_part, self.frames)
            os.replace(self._files.flac_part, self._files.flac)
        except OSError as error:
            self.error = self.error or str(error)
            with suppress(OSError):  # the metadata may need just this room
                self._files.flac_part.unlink(missing_ok=True)
            return self._files.wav
        return self._files.flac

    def _summary(self, audio: Path, reason: str, extra: Metadata) -> Metadata:
        flags = os.pread(self._flags.fileno(), self.frames, 0)
        failure = {"error": self.error, "frames_lost": self.frames_lost} if self.error else {}
        return {
            **self._metadata,
            **extra,
            "status": "finished",
            "container": audio.suffix[1:],
            **described(flags, self.frames),
            "reason": reason,
            **failure,
        }


def _check_free(fields: Metadata, ours: Metadata) -> None:
    taken = sorted(name for name in _OURS & fields.keys() if fields[name] != ours.get(name))
    if taken:
        raise ValueError(f"metadata may not set {', '.join(taken)}: the recording does")
