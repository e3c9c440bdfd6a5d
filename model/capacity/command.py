"""`python -m model capacity`: what a model takes and how many sessions a machine holds of it."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from typing import Any

import torch

from model.capacity.bounds import floor_s
from model.capacity.cards import CARDS, Card
from model.capacity.sizes import PUBLISHED, Sizes, sizes_of
from model.capacity.table import report, table
from model.checkpoint import DEFAULT, load
from model.compact.refusals import Unsupported
from model.config import ModelError
from model.opening import DTYPES, build_runtime, pick_device
from model.step_times import ladder
from model.threads import leave_a_core


@dataclass(frozen=True)
class CapacityOptions:
    """What the command line can change. price: of one machine-hour. bandwidth: GB/s, of every card."""

    model: str = DEFAULT
    gpu: tuple[str, ...] = ("h100", "h200")
    dtype: str = "bfloat16"
    minutes: tuple[float, ...] = (1, 4, 10)
    price: float | None = None
    bandwidth: float | None = None
    measure: int = 0


def add_command(subparsers: Any) -> None:
    """Gives the parser the subcommand and its defaults."""
    known = f"{DEFAULT}, a checkpoint folder, a hub name, or the shape {' or '.join(PUBLISHED)}"
    parser = subparsers.add_parser("capacity", help="what a model costs to serve", description=__doc__)
    default = CapacityOptions()
    parser.add_argument("--model", default=default.model, help=known)
    parser.add_argument("--gpu", nargs="+", choices=list(CARDS), default=default.gpu)
    parser.add_argument("--dtype", choices=list(DTYPES), default=default.dtype)
    parser.add_argument("--minutes", type=_above_zero, nargs="+", default=default.minutes, help="of a call")
    parser.add_argument("--price", type=_above_zero, help="of one machine-hour, in any currency")
    parser.add_argument("--bandwidth", type=_above_zero, help="GB/s, in place of the card's own")
    parser.add_argument(
        "--measure",
        type=int,
        choices=range(0, 129),
        metavar="SESSIONS",
        default=default.measure,
        help="also time steps of up to so many sessions on this machine",
    )
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> None:
    names = {"model", "gpu", "dtype", "minutes", "price", "bandwidth", "measure"}
    options = CapacityOptions(**{name: getattr(given, name) for name in names})
    try:
        sizes = sizes_of(options.model, DTYPES[options.dtype].itemsize)
        cards = [_card(name, options.bandwidth) for name in options.gpu]
        measured = _measured(sizes, cards[0], options) if options.measure else ""
    except (ModelError, Unsupported) as error:
        sys.exit(_complain(str(error)))
    print(report(sizes, cards, options.minutes, options.price, measured))


def _complain(message: str) -> int:
    print(f"model: {message}", file=sys.stderr)
    return 2


def _card(name: str, bandwidth: float | None) -> Card:
    card = CARDS[name]
    return card if bandwidth is None else replace(card, bandwidth=bandwidth * 1e9)


def _measured(sizes: Sizes, card: Card, options: CapacityOptions) -> str:
    """Times full-context steps of the compact runtime on this machine, the floor of `card` beside them."""
    if options.model in PUBLISHED:
        raise ModelError("--measure needs a checkpoint, not a shape")
    device = pick_device("auto")
    leave_a_core()
    loaded = load(options.model, device, DTYPES[options.dtype])
    runtime = build_runtime(loaded, "auto", options.measure)
    rows = [["sessions", "measured", "floor"]]
    for sessions in ladder(options.measure):
        floor_ms = 1000 * floor_s(sizes, card, sessions, sizes.context)
        rows.append([str(sessions), f"{1000 * runtime.measure(sessions):.2f} ms", f"{floor_ms:.2f} ms"])
    where = f"{device}, {torch.get_num_threads()} threads" if device == "cpu" else device
    title = f"measured here ({where}, {options.dtype}), contexts full, beside the floor of {card.name}"
    return f"{title}\n{table(rows)}"


def _above_zero(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text}")
    return value
