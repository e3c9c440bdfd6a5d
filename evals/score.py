"""`python -m evals score PATH...`: finds conversations, scores them side by side, pools the results.

Exit codes: 0 everything was scored, 2 what was asked cannot be done (one line says why), 3 some inputs
were rejected (one line each; the others are scored), 130 interrupted (the same command goes on).
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain

from tqdm import tqdm

from evals.pool import write_run
from evals.readers.discover import Found, discover
from evals.results import Rejected, RunResult
from evals.score_options import Options, UsageError, parse
from evals.work import Done, Job, work


def main(argv: list[str]) -> int:
    try:
        options = parse(argv)
    except UsageError as error:
        print(f"evals score: {error}", file=sys.stderr)
        return 2
    try:
        return _score(options)
    except KeyboardInterrupt:
        print("interrupted: the same command goes on where this one stopped", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"evals score: {error}", file=sys.stderr)
        return 2


def _score(options: Options) -> int:
    found = discover(options.paths, options.user_channel)
    options.out.mkdir(parents=True, exist_ok=True)
    for line in found.notes:
        print(line, file=sys.stderr)
    rejected = list(found.rejected)
    for one in rejected:
        print(f"{one.path}: rejected: {one.reason}", file=sys.stderr)
    scored, kept = [], 0
    for done in _finished(found, options):
        if done.reason:
            rejected.append(Rejected(str(done.source.path), done.reason))
        else:
            scored.append(done.source.id)
            kept += done.kept
    order = [source.id for source in found.sources if source.id in set(scored)]
    run = write_run(
        options.out, order, sorted(rejected, key=lambda r: (r.path, r.reason)), options.settings.thresholds
    )
    _conclude(run, kept, options)
    return (3 if order else 2) if rejected else 0


def _finished(found: Found, options: Options) -> Iterator[Done]:
    """In order of completion, each with its lines said above the bar.

    There is no bar where stderr is no terminal: a file shows its redrawing in front of every line.
    """
    jobs = [Job(source, options.settings, options.extras, options.out) for source in found.sources]
    with tqdm(total=len(jobs), unit="conversation", desc="score", disable=options.quiet or None) as bar:
        for done in _worked(jobs, min(options.jobs, len(jobs))):
            if done.reason:
                bar.write(f"{done.source.path}: rejected: {done.reason}", file=sys.stderr)
            for line in done.warnings if not done.kept else ():
                if line != done.source.note:
                    bar.write(f"{done.source.path}: {line}", file=sys.stderr)
            yield done
            bar.update()


def _worked(jobs: list[Job], processes: int) -> Iterator[Done]:
    if processes <= 1:
        yield from map(work, jobs)
        return
    left = []
    for job, done in _side_by_side(jobs, processes):
        if done is None:
            left.append(job)
        else:
            yield done
    if left:
        tqdm.write(f"a worker was killed: {len(left)} conversations are tried again one by one", sys.stderr)
    yield from _one_by_one(iter(left))


def _side_by_side(jobs: list[Job], processes: int) -> Iterator[tuple[Job, Done | None]]:
    """None for all that a worker left undone that was killed: nobody knows which of them it was about."""
    with _workers(processes) as pool:
        waiting = {}
        for job in jobs:
            try:
                waiting[pool.submit(work, job)] = job
            except BrokenProcessPool:
                yield job, None
        for future in concurrent.futures.as_completed(waiting):
            try:
                yield waiting[future], future.result()
            except BrokenProcessPool:
                yield waiting[future], None


def _one_by_one(jobs: Iterator[Job]) -> Iterator[Done]:
    """Each alone, so that one whose process is killed costs no other."""
    for first in jobs:
        with _workers(1) as pool:
            for job in chain([first], jobs):
                try:
                    yield pool.submit(work, job).result()
                except BrokenProcessPool:
                    yield Done(job.source, "its process was killed, perhaps for memory: run it with --jobs 1")
                    break


@contextmanager
def _workers(processes: int) -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, initializer=_start_worker)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():  # what it writes is whole or not there
            child.terminate()
        raise
    pool.shutdown()


def _start_worker() -> None:
    """The parent ends the batch at Ctrl-C; and libraries that start a thread for every core would fight."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def _conclude(run: RunResult, kept: int, options: Options) -> None:
    count = len(run.conversations)
    print(
        f"{count} conversations, {run.minutes:.1f} minutes; {kept} kept from before;"
        f" {len(run.rejected)} rejected: {options.out / 'metrics.json'}"
    )
    if not options.report or not count:
        return
    try:
        from evals.report.command import main as report
    except ImportError as error:  # plots are an extra
        print(f"no report: {error}: pip install 'duet[evals]', or use --no-report", file=sys.stderr)
        return
    report([str(options.out), "-o", str(options.out / "report.html")])
