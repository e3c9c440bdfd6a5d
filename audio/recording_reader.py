"""Opening a recording, and the repair of one whose writer was killed.

The audio is the truth: its length, cut to whole frames, is the recording's. A recording that is
still being written is shown as it stands and not touched. Refuses to know how it came about.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

import numpy as np
import numpy.typing as npt

from audio import flac, wav
from audio.frame_flags import FrameFlags, fold, unfold
from audio.frames import FRAME_MS, SAMPLE_RATE
from audio.recording_files import (
    Metadata,
    RecordingError,
    RecordingFiles,
    lock,
    read_metadata,
    replace_metadata,
    write_at,
)

LAYOUT: Metadata = {
    "sample_rate": SAMPLE_RATE,
    "channels": ["user", "agent"],
    "flag_bits": {flag.name: flag.value for flag in FrameFlags},
}
"""The metadata that is the same for every recording."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A two-channel recording: 0 is the user, 1 the agent, and frame n of both is the same 80 ms.

    path: the audio file. frames: its length in frames of 1,920 samples.
    metadata: what the caller gave, and status ("open" while its writer lives, "finished",
    "recovered"), reason, container, sample_rate, channels, frames, duration_s, flags, flag_bits;
    error and frames_lost where the disk failed.
    """

    path: Path
    metadata: Metadata
    frames: int

    def read(self, start: int, frames: int) -> npt.NDArray[np.float32]:
        """Up to `frames` frames from frame `start` as float32 [n, 2]."""
        first = min(max(start, 0), self.frames)
        count = min(max(frames, 0), self.frames - first)
        if self.path.suffix == ".flac":
            return flac.read(self.path, first, count)
        with self.path.open("rb") as file:
            file.seek(wav.offset(first))
            return wav.unpack(file.read(count * wav.FRAME_BYTES))

    @property
    def samples(self) -> npt.NDArray[np.float32]:
        """All of it, float32 [n, 2]: 11.5 MB for each minute, so hours are better `read` in parts."""
        return self.read(0, self.frames)

    @property
    def flags(self) -> list[FrameFlags]:
        """What happened to each frame."""
        return unfold(self.metadata["flags"])


def described(flags: Iterable[int], frames: int) -> Metadata:
    """The metadata that follows from what was written."""
    return {"frames": frames, "duration_s": frames * FRAME_MS / 1000, "flags": fold(flags)}


def open_recording(path: Path) -> Recording:
    """Open by the path of any of its files, repairing it if its writer was killed.

    Raises:
        RecordingError: there is none, it is not one of ours, or it cannot be repaired.
    """
    files = RecordingFiles(path.with_suffix(""))
    try:
        if _has_ended(metadata := read_metadata(files)):
            return _finished(files, metadata)
        with suppress(FileNotFoundError), FileIO(files.wav, "r+") as audio:
            ours = lock(audio)
            # again, now that the lock was asked for: the writer may have finished until then
            if not _has_ended(metadata := read_metadata(files)):
                return _repaired(files, metadata, audio) if ours else _as_it_stands(files, metadata, audio)
        return _finished(files, read_metadata(files))
    except OSError as error:
        raise RecordingError(f"cannot open recording {files.base}: {error}") from error


def _has_ended(metadata: Metadata) -> bool:
    return bool(metadata.get("status", "open") != "open")


def _finished(files: RecordingFiles, metadata: Metadata) -> Recording:
    """One with its end in the metadata; a kill may have left files it needs no more."""
    audio = files.container(str(metadata.get("container")))
    if not audio.is_file():
        raise RecordingError(f"there is no recording {files.base}")
    files.remove_all_but(audio)
    return Recording(audio, metadata, int(metadata["frames"]))


def _as_it_stands(files: RecordingFiles, metadata: Metadata, audio: FileIO) -> Recording:
    frames = wav.whole_frames(os.fstat(audio.fileno()).st_size)
    return Recording(files.wav, metadata | described(_flags(files, frames), frames), frames)


def _repaired(files: RecordingFiles, metadata: Metadata, audio: FileIO) -> Recording:
    """Each step may be the last one, and the next repair does the same again."""
    start = os.pread(audio.fileno(), wav.HEADER_BYTES, 0)
    if not metadata and not wav.is_ours(start):
        raise RecordingError(f"{files.wav} is not a recording of ours")
    frames = wav.whole_frames(os.fstat(audio.fileno()).st_size)
    audio.truncate(wav.offset(frames))
    write_at(audio, wav.header(frames), 0)
    repaired = {
        "session_id": files.base.name,
        **LAYOUT,
        **metadata,
        "status": "recovered",
        "container": "wav",
        **described(_flags(files, frames), frames),
        "reason": "interrupted",
    }
    replace_metadata(files, repaired)
    files.remove_all_but(files.wav)
    return Recording(files.wav, repaired, frames)


def _flags(files: RecordingFiles, frames: int) -> bytes:
    """One byte a frame; the byte is written before its frame, so that only a surplus is cut."""
    written = files.flags.read_bytes() if files.flags.exists() else b""
    return written[:frames].ljust(frames, b"\0")
