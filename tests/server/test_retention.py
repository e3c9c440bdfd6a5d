"""What is too old goes, and nothing else does."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from pathlib import Path

import pytest

from audio.frames import silence
from audio.recording import FrameFlags, RecordingWriter
from server.retention import DAY_S, Swept, sweep, sweeping

NOW = 1_800_000_000.0
OLD, OTHER = (f"sess_{digit * 32}" for digit in "ab")
RECORDING = (".flac", ".json")
TRANSCRIPT = (".transcript.jsonl", ".transcript.json")


def lay(folder: Path, session_id: str, suffixes: tuple[str, ...], days_old: float) -> None:
    for suffix in suffixes:
        path = folder / f"{session_id}{suffix}"
        path.write_text("x")
        os.utime(path, (NOW - days_old * DAY_S,) * 2)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def nobody(_: str) -> bool:
    return False


def test_all_files_of_a_call_go_when_the_youngest_is_too_old(tmp_path: Path) -> None:
    lay(tmp_path, OLD, RECORDING + TRANSCRIPT, 7.1)
    lay(tmp_path, OTHER, RECORDING, 30)
    assert sweep(tmp_path, 7, NOW, nobody) == Swept(recordings=2, transcripts=1)
    assert names(tmp_path) == set()


def test_what_is_young_enough_stays_and_so_do_the_older_files_beside_it(tmp_path: Path) -> None:
    lay(tmp_path, OLD, RECORDING, 8)
    lay(tmp_path, OLD, TRANSCRIPT, 6.9)
    before = names(tmp_path)
    assert sweep(tmp_path, 7, NOW, nobody) == Swept()
    assert names(tmp_path) == before


def test_files_that_are_no_sessions_are_not_touched(tmp_path: Path) -> None:
    others = ("notes.txt", "sess_short.wav", f"{OLD}.txt", f"{OLD}.wav.bak", f"{OLD.upper()}.wav")
    for name in others:
        lay(tmp_path, name, ("",), 900)
    (tmp_path / "folder").mkdir()
    assert sweep(tmp_path, 1, NOW, nobody) == Swept()
    assert names(tmp_path) == {*others, "folder"}


def test_a_call_that_is_being_written_stays_however_old_its_files_look(tmp_path: Path) -> None:
    lay(tmp_path, OLD, RECORDING + TRANSCRIPT, 30)
    assert sweep(tmp_path, 7, NOW, lambda session_id: session_id == OLD) == Swept()


def test_a_call_that_another_server_writes_into_the_same_folder_stays(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path, OLD, {}, "wav")
    writer.write(silence(), silence(), FrameFlags(0))
    for path in tmp_path.iterdir():
        os.utime(path, (NOW - 30 * DAY_S,) * 2)
    assert sweep(tmp_path, 7, NOW, nobody) == Swept()
    writer.finish("close_requested", {})


def test_a_download_that_has_begun_gets_all_of_its_file(tmp_path: Path) -> None:
    lay(tmp_path, OLD, RECORDING, 30)
    with (tmp_path / f"{OLD}.flac").open() as download:
        assert sweep(tmp_path, 7, NOW, nobody).recordings == 1
        assert download.read() == "x"


def test_a_folder_that_is_not_there_has_nothing_to_remove(tmp_path: Path) -> None:
    assert sweep(tmp_path / "none", 7, NOW, nobody) == Swept()


def test_it_happens_at_the_start_and_again_and_is_logged_with_counts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "duet.retention")

    async def gone() -> None:
        async with asyncio.timeout(60):
            while await asyncio.to_thread(names, tmp_path):  # noqa: ASYNC110  nothing to be told by
                await asyncio.sleep(0.01)

    async def scene() -> None:
        async with sweeping(tmp_path, 7, nobody, every_s=0.05):
            await gone()
            lay(tmp_path, OTHER, TRANSCRIPT, (NOW - time.time()) / DAY_S + 8)
            await gone()

    lay(tmp_path, OLD, RECORDING, (NOW - time.time()) / DAY_S + 8)
    asyncio.run(scene())
    assert [record.getMessage() for record in caplog.records] == [
        "removed 1 recordings and 0 transcripts that were older than 7 days",
        "removed 0 recordings and 1 transcripts that were older than 7 days",
    ]


def test_without_a_limit_nothing_is_ever_removed(tmp_path: Path) -> None:
    async def scene() -> None:
        async with sweeping(tmp_path, 0, nobody, every_s=0.001):
            await asyncio.sleep(0.02)

    lay(tmp_path, OLD, RECORDING, 10_000)
    asyncio.run(scene())
    assert len(names(tmp_path)) == 2
