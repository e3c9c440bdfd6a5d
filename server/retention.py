"""What is older than the policy keeps is removed: at the start, and once an hour.

A call's files go together, by the age of the youngest. One that is being written stays, whoever writes it; a
download that has begun gets all of its file, which the system keeps for who has it open. Refuses to know what
stands in the files, and touches none but a session's own.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from audio.recording_files import is_locked

EVERY_S = 3_600
DAY_S = 86_400

_OURS = re.compile(
    r"(sess_[0-9a-f]{32})\.(?:(wav|flac|flags|json|flac\.part|json\.part)"
    r"|transcript\.(?:open|jsonl|json|json\.part))"
)

log = logging.getLogger("duet.retention")


@dataclass(frozen=True, slots=True)
class Swept:
    """How many calls' recordings and transcripts were removed, and how many files could not be."""

    recordings: int = 0
    transcripts: int = 0
    failed: int = 0


def sweep(folder: Path, days: int, now: float, is_busy: Callable[[str], bool]) -> Swept:
    """Removes every session's files of which none was changed in the last `days` days. Blocks.

    now: Unix seconds. is_busy: whether a session is being written, by its id.
    """
    recordings = transcripts = failed = 0
    for session_id, files in _by_session(folder).items():
        youngest = max(map(_changed_at, files))
        if now - youngest < days * DAY_S or is_busy(session_id) or any(map(is_locked, files)):
            continue
        kinds = {_is_recording(path) for path in files}
        failed += sum(not _remove(path) for path in files)
        recordings += True in kinds
        transcripts += False in kinds
    return Swept(recordings, transcripts, failed)


@asynccontextmanager
async def sweeping(
    folder: Path, days: int, is_busy: Callable[[str], bool], every_s: float = EVERY_S
) -> AsyncIterator[None]:
    """As long as it is open, what gets too old is removed. days: 0 keeps everything."""
    if not days:
        yield
        return
    task = asyncio.create_task(_sweep_forever(folder, days, is_busy, every_s))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _sweep_forever(folder: Path, days: int, is_busy: Callable[[str], bool], every_s: float) -> None:
    while True:
        try:
            swept = await asyncio.to_thread(sweep, folder, days, time.time(), is_busy)
        except OSError as error:
            log.error("%s cannot be searched for what is too old: %s", folder, error)
        else:
            _tell(swept, days)
        await asyncio.sleep(every_s)


def _tell(swept: Swept, days: int) -> None:
    if swept.recordings or swept.transcripts:
        log.info(
            "removed %d recordings and %d transcripts that were older than %d days",
            swept.recordings,
            swept.transcripts,
            days,
        )
    if swept.failed:
        log.error("%d files that are too old cannot be removed", swept.failed)


def _by_session(folder: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = defaultdict(list)
    for path in folder.iterdir() if folder.is_dir() else ():
        if match := _OURS.fullmatch(path.name):
            found[match[1]].append(path)
    return found


def _is_recording(path: Path) -> bool:
    match = _OURS.fullmatch(path.name)
    return bool(match and match[2])


def _changed_at(path: Path) -> float:
    """A file that went meanwhile is as old as can be. Links are not followed."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _remove(path: Path) -> bool:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True
