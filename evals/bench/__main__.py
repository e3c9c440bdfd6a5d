"""`python -m evals.bench`: moshi.server (A), this server on moshi's modules (B) and on its own (C).

First the gate: the compact runtime must answer what the reference answers, token for token. Then
steps of the three in one process, in turn. Then calls: the three servers run side by side, idle while
another is measured, in the order A B C A B C, so that a change of the machine's speed meets all of
them. Prints tables and writes them with a plot to a dated log.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from audio.frames import FRAME_SAMPLES, Samples
from duet_client.bench import babble
from duet_client.stats import summarise
from evals.bench import step_rows
from evals.bench.facts import facts
from evals.bench.held import told
from evals.bench.moshi_calls import run_calls
from evals.bench.plot import draw
from evals.bench.report import Log, Row, command, log_page, markdown, table
from evals.bench.step_rows import StepRow
from evals.bench.subjects import A, B, C, Subject, ours, published, write_checkpoint

ROUNDS = 2
BUILTIN = Path("model/builtin")
"""Seen from the checkout, which evals are run from."""
NOTES = (
    "On a machine without CUDA the warm-up of moshi.server calls torch.cuda.synchronize() and fails;"
    " that one call is made to do nothing. Nothing else of it is changed.",
    "moshi.server runs in bfloat16, its only choice beside float16; duet in float32, its default on a CPU."
    " Steps are all in float32 on a CPU, A's too.",
    "moshi.server holds one call at a time: a second caller waits in silence until the first hangs up.",
    "B and C have room for just as many calls as are made; the reference always computes all of them.",
    "Latency: a frame's last byte sent to its answer's last byte received; the load generator shares the"
    " machine.",
    "On a CPU nobody has CUDA graphs: nothing here says anything about a GPU.",
    "own: processor time of the stepping thread, which other programs on the machine change less.",
    "MB: what the server's process holds at the end of the row.",
)


@dataclass(frozen=True)
class BenchOptions:
    """What the command line can change. model: a checkpoint folder; None for an untrained one."""

    seconds: float = 12.0
    calls: tuple[int, ...] = (1, 2, 4, 8, 16)
    model: Path | None = BUILTIN
    steps: int = 60
    steps_s: float = 120.0
    log_folder: Path = Path("docs/measurements")


def main() -> None:
    options = _parse()
    date = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.model or Path(temporary) / "checkpoint"
        if options.model is None:
            write_checkpoint(folder)
        gate = _gate(folder)
        steps = _steps(folder, options)
        rows = list(_calls(folder, options))
    options.log_folder.mkdir(parents=True, exist_ok=True)
    plot = options.log_folder / f"{date}-steps.png"
    draw(steps, plot)
    held = told(rows, (A, B, C))
    sections = _sections(gate, held, steps, plot)
    page = log_page(Log(date, command(sys.argv[1:]), _facts(options), NOTES, rows, sections))
    print(held, table(rows), sep="\n\n")
    path = options.log_folder / f"{date}-bench.md"
    path.write_text(page)
    print(f"written to {path}")
    if not all(row.trusted for row in rows):
        sys.exit("some rows are invalid: the load generator was late; run it on a quieter machine")


def _parse() -> BenchOptions:
    default = BenchOptions()
    parser = argparse.ArgumentParser(prog="python -m evals.bench", description=__doc__)
    parser.add_argument("--seconds", type=float, default=default.seconds, help="of calls, per measurement")
    parser.add_argument("--calls", type=int, nargs="+", default=default.calls, help="calls at once")
    weights = parser.add_mutually_exclusive_group()
    weights.add_argument("--model", type=Path, default=default.model, help="checkpoint folder")
    weights.add_argument("--untrained", action="store_true", help="random weights of the built-in's kind")
    parser.add_argument("--steps", type=int, default=default.steps, help="timed steps of each subject")
    parser.add_argument("--steps-s", type=float, default=default.steps_s, help="longest time for steps")
    parser.add_argument("--log-folder", type=Path, default=default.log_folder)
    given = parser.parse_args()
    if given.seconds < 2 or min(given.calls) < 1:
        parser.error("--seconds must be 2 or more and --calls 1 or more")
    model = None if given.untrained else given.model
    return BenchOptions(
        given.seconds, tuple(given.calls), model, given.steps, given.steps_s, given.log_folder
    )


def _gate(folder: Path) -> str:
    """A list; ends the bench where the runtimes differ: figures of a wrong answer are worth nothing."""
    gate = _ask("parity", folder)
    if gate.returncode:
        sys.exit(gate.stdout + gate.stderr)
    return "\n".join(f"- {line}" for line in gate.stdout.splitlines())


def _steps(folder: Path, options: BenchOptions) -> list[StepRow]:
    sessions = [str(calls) for calls in options.calls]
    limits = ["--steps", str(options.steps), "--budget-s", str(options.steps_s)]
    result = _ask("steps", folder, "--sessions", *sessions, *limits)
    if result.returncode:
        sys.exit(result.stderr)
    return step_rows.read(result.stdout.splitlines())


def _ask(command: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "model", command, "--model", str(folder), *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def _calls(folder: Path, options: BenchOptions) -> Iterator[Row]:
    frames = _frames()
    total = 3 * ROUNDS * len(options.calls)
    with published(folder) as moshi, tqdm(total=total, unit="row", desc="bench") as bar:
        for calls in options.calls:
            with ExitStack() as running:
                subjects = [moshi]
                for name, runtime in ((B, "reference"), (C, "compact")):
                    subjects.append(running.enter_context(ours(name, runtime, folder, calls)))
                for subject in subjects * ROUNDS:
                    yield _row(subject, calls, options.seconds, frames)
                    bar.update()


def _row(subject: Subject, calls: int, seconds: float, frames: list[Samples]) -> Row:
    began = time.monotonic()
    outcomes = asyncio.run(run_calls(subject, calls, seconds, frames))
    served = [call.log for call in outcomes if call.served]  # who waits in line is late by the server's doing
    unanswered = sum(call.log.deficit for call in outcomes)
    errors = tuple(call.error for call in outcomes if call.error)
    summary = summarise(served, began)
    return Row(subject.name, "moshi", calls, len(served), summary, unanswered, errors, subject.memory_mb)


def _frames() -> list[Samples]:
    speech: Samples = babble().astype(np.float32) / np.float32(32768)
    whole = len(speech) // FRAME_SAMPLES
    return [speech[n * FRAME_SAMPLES : (n + 1) * FRAME_SAMPLES] for n in range(whole)]


def _facts(options: BenchOptions) -> dict[str, str]:
    model = options.model or "an untrained checkpoint"
    return facts() | {"model": str(model), "each row": f"{options.seconds:g} s of real-time calls"}


def _sections(gate: str, held: str, steps: list[StepRow], plot: Path) -> list[tuple[str, str]]:
    compared = markdown(step_rows.COLUMNS, step_rows.compare(steps))
    split = markdown(step_rows.PARTS, step_rows.parts(steps))
    return [
        ("Parity", gate),
        ("Calls held", held),
        ("A step, contexts full", f"{compared}\n\n![step time against sessions]({plot.name})"),
        ("Where a step's time goes, ms", split),
    ]


if __name__ == "__main__":
    main()
