"""`python -m model steps`: how long a step takes, ours against moshi's own, and against the floor.

A is moshi's single stream, B the reference runtime, C the compact one: in turn, on the same weights.
Prints tab-separated lines; `evals.bench` makes tables and plots of them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from model.capacity.bounds import floor_s
from model.capacity.cards import CARDS, Card
from model.capacity.sizes import PUBLISHED, Sizes, sizes_of
from model.checkpoint import DEFAULT, Loaded
from model.compact.refusals import Unsupported
from model.config import ModelError
from model.opening import pick_device
from model.threads import leave_a_core
from model.timing.blocks import Timed, interleave
from model.timing.subjects import Single, Subject, compact, open_subject, reference, stop_streaming

COLUMNS = ["subject", "sessions", "capacity", "context", "p50_ms", "p99_ms"]
COLUMNS += ["encode_ms", "lm_ms", "decode_ms", "host_ms", "floor_ms", "own_ms"]
COPIED_BYTES = 256 * 1024**2


@dataclass(frozen=True)
class StepsOptions:
    """What the command line can change. contexts: ages of the sessions, in frames; none is a full one."""

    model: str = DEFAULT
    device: str = "auto"
    sessions: tuple[int, ...] = (1, 2, 4, 8, 16)
    contexts: tuple[int, ...] = ()
    steps: int = 60
    budget_s: float = 300.0


def add_command(subparsers: Any) -> None:
    """Gives the parser the subcommand and its defaults."""
    default = StepsOptions()
    parser = subparsers.add_parser("steps", help="time the runtimes", description=__doc__)
    shapes = " or ".join(PUBLISHED)
    parser.add_argument(
        "--model", default=default.model, help=f"a checkpoint, or {shapes} with random weights"
    )
    parser.add_argument("--device", default=default.device)
    parser.add_argument("--sessions", type=int, nargs="+", default=default.sessions)
    parser.add_argument("--contexts", type=int, nargs="+", default=default.contexts)
    parser.add_argument("--steps", type=int, default=default.steps, help="timed steps of each")
    parser.add_argument("--budget-s", type=float, default=default.budget_s, help="stop after this long")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> None:
    options = StepsOptions(
        given.model, given.device, tuple(given.sessions), tuple(given.contexts), given.steps, given.budget_s
    )
    try:
        print("\t".join(COLUMNS), flush=True)
        for timed, floor in measured(options):
            print(line(timed, floor), flush=True)
    except (ModelError, Unsupported) as error:
        print(f"model: {error}", file=sys.stderr)
        sys.exit(2)


def line(timed: Timed, floor: float) -> str:
    """One tab-separated row of COLUMNS; floor in seconds."""
    figures = [timed.ms(0.5), timed.ms(0.99), *(timed.part_ms(part) for part in range(3))]
    figures += [timed.host_ms, 1000 * floor, timed.own_ms]
    counts = [timed.subject, str(timed.sessions), str(timed.capacity), str(timed.frames)]
    return "\t".join([*counts, *(f"{figure:.3f}" for figure in figures)])


def measured(options: StepsOptions) -> Iterator[tuple[Timed, float]]:
    """Each subject at each number of sessions, with its floor on this machine, until the budget is spent."""
    device = pick_device(options.device)
    leave_a_core()
    dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
    single, shared = (open_subject(options.model, device, dtype) for _ in range(2))
    sizes, card = sizes_of(options.model, dtype.itemsize), this_machine(device)
    contexts = options.contexts or (sizes.context,)
    ends = time.monotonic() + options.budget_s
    for sessions in options.sessions:
        for group in _groups(single, shared, sessions, together=device == "cpu"):
            subjects = [make() for make in group]
            for context in contexts:
                if time.monotonic() > ends and sessions > options.sessions[0]:
                    return
                pairs = [(subject, Timed(subject.name, sessions, sessions, context)) for subject in subjects]
                for timed in interleave(pairs, options.steps):
                    yield timed, _floor(sizes, card, timed)
            del subjects
            for loaded in (single, shared):
                stop_streaming(loaded)
            if device != "cpu":
                torch.cuda.empty_cache()


def _groups(
    single: Loaded, shared: Loaded, sessions: int, *, together: bool
) -> list[list[Callable[[], Subject]]]:
    """Who is timed in turn with whom: everybody, or nobody, as on a GPU whose memory holds one at a time."""
    makers: list[Callable[[], Subject]] = [
        lambda: reference(shared, sessions),
        lambda: compact(shared, sessions),
    ]
    if sessions == 1:
        makers.insert(0, lambda: Single(single))
    return [makers] if together else [[maker] for maker in makers]


def _floor(sizes: Sizes, card: Card, timed: Timed) -> float:
    return floor_s(sizes, card, timed.sessions, timed.frames)


def this_machine(device: str) -> Card:
    """The bandwidth that copying reaches here; a card's own arithmetic is taken as read."""
    source = torch.ones(COPIED_BYTES // 4, device=device)
    target = torch.empty_like(source)
    seconds = min(_copy_s(source, target, device) for _ in range(5))
    known = CARDS["h200" if device.startswith("cuda") else "cpu"]
    return Card("this machine", known.memory, 2 * COPIED_BYTES / seconds, known.flops)


def _copy_s(source: torch.Tensor, target: torch.Tensor, device: str) -> float:
    began = time.perf_counter()
    target.copy_(source)
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
    return time.perf_counter() - began
