"""`python -m evals.bench`: the published moshi.server and this one, in turn, at 1, 2, 4 and 8 calls.

Both run from start to end, idle while the other is measured, so that a change of the machine's
speed meets both. Prints a table and writes it to a dated log.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import importlib.metadata
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from audio.frames import FRAME_SAMPLES, Samples
from duet_client.bench import BenchPlan, babble, measure
from duet_client.stats import summarise
from evals.bench.moshi_calls import run_calls
from evals.bench.report import Row, log_page, table
from evals.bench.subjects import Subject, ours, published, write_checkpoint

NOTES = (
    "On a machine without CUDA the warm-up of moshi.server calls torch.cuda.synchronize() and fails;"
    " that one call is made to do nothing. Nothing else of it is changed.",
    "moshi.server runs in bfloat16, its only choice beside float16; duet in float32, its default on a CPU.",
    "moshi.server holds one call at a time: a second caller waits in silence until the first hangs up.",
    "Latency: a frame's last byte sent to its answer's last byte received; the load generator shares the"
    " machine.",
    "Weights: the untrained default checkpoint. On a CPU neither server has CUDA graphs; nothing here"
    " says anything about a GPU.",
)


@dataclass(frozen=True)
class BenchOptions:
    """What the command line can change."""

    seconds: float = 15.0
    calls: tuple[int, ...] = (1, 2, 4, 8)
    log_folder: Path = Path("docs/measurements")


def main() -> None:
    options = _parse()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "checkpoint"
        write_checkpoint(folder)
        with published(folder) as moshi, ours(folder, max(options.calls)) as duet:
            rows = list(_measure(moshi, duet, options))
    print(table(rows))
    date = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
    path = options.log_folder / f"{date}-bench.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(log_page(date, "make bench", _facts(options), NOTES, rows))
    print(f"written to {path}")
    if not all(row.trusted for row in rows):
        sys.exit("some rows are invalid: the load generator was late; run it on a quieter machine")


def _parse() -> BenchOptions:
    parser = argparse.ArgumentParser(prog="python -m evals.bench", description=__doc__)
    parser.add_argument("--seconds", type=float, default=BenchOptions.seconds, help="per measurement")
    parser.add_argument("--calls", type=int, nargs="+", default=BenchOptions.calls, help="calls at once")
    parser.add_argument("--log-folder", type=Path, default=BenchOptions.log_folder)
    given = parser.parse_args()
    if given.seconds < 2 or min(given.calls) < 1:
        parser.error("--seconds must be 2 or more and --calls 1 or more")
    return BenchOptions(given.seconds, tuple(given.calls), given.log_folder)


def _measure(moshi: Subject, duet: Subject, options: BenchOptions) -> Iterator[Row]:
    frames = _frames()
    with tqdm(total=3 * len(options.calls), unit="row", desc="bench") as bar:
        for calls in options.calls:
            for subject in (moshi, duet):
                yield _moshi_wire(subject, calls, options.seconds, frames)
                bar.update()
            yield _live_wire(duet, calls, options.seconds)
            bar.update()


def _moshi_wire(subject: Subject, calls: int, seconds: float, frames: list[Samples]) -> Row:
    began = time.monotonic()
    outcomes = asyncio.run(run_calls(subject, calls, seconds, frames))
    served = [
        call.log for call in outcomes if call.served
    ]  # whoever waits in line is late by the server's doing
    unanswered = sum(call.log.deficit for call in outcomes)
    errors = tuple(call.error for call in outcomes if call.error)
    return Row(subject.name, "moshi", calls, len(served), summarise(served, began), unanswered, errors)


def _live_wire(subject: Subject, calls: int, seconds: float) -> Row:
    plan = BenchPlan(calls=calls, seconds=seconds)
    result = asyncio.run(measure(f"ws://localhost:{subject.port}", plan))
    failed = sum(problem.startswith("call ") for problem in result.problems)
    deficits = result.summary.deficits
    return Row(subject.name, "live", calls, calls - failed, result.summary, deficits, result.problems)


def _frames() -> list[Samples]:
    speech: Samples = babble().astype(np.float32) / np.float32(32768)
    whole = len(speech) // FRAME_SAMPLES
    return [speech[n * FRAME_SAMPLES : (n + 1) * FRAME_SAMPLES] for n in range(whole)]


def _facts(options: BenchOptions) -> dict[str, str]:
    version = importlib.metadata.version
    ours = f"duet {version('duet')} ({_commit()})"
    theirs = f"moshi {version('moshi')}, torch {version('torch')}, Python {platform.python_version()}"
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {_processor()}",
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU, no CUDA device",
        "versions": f"{ours}, {theirs}",
        "each row": f"{options.seconds:g} s of real-time calls",
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def _commit() -> str:
    result = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return result.stdout.strip() or "no commit"


if __name__ == "__main__":
    main()
