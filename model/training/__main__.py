"""The command line of the training recipe. Decides nothing but what is called."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from model.config import ModelError


def default_folder() -> Path:
    """Where data and checkpoints are kept: outside the repository, they are large."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "duet" / "training"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return _COMMANDS[options.command](options)
    except ModelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _data(options: argparse.Namespace) -> int:
    from model.training.make_data import make_data

    make_data(options.folder, workers=options.workers)
    return 0


def _codec(options: argparse.Namespace) -> int:
    from model.training.recipe import RECIPE
    from model.training.train_codec import train_codec

    stages = RECIPE.stages if options.until is None else RECIPE.until(options.until)
    train_codec(options.folder, replace(RECIPE, stages=stages), device=options.device)
    return 0


def _check(options: argparse.Namespace) -> int:
    from model.training.gate_a import gate_a

    gate_a(options.folder, options.codec or options.folder / "codec", options.parts)
    return 0


_COMMANDS = {"data": _data, "codec": _codec, "check": _check}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m model.training", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    data = commands.add_parser("data", help="speak the users and the agent, and listen with the teacher")
    data.add_argument("--workers", type=int, default=2, help="synthesisers run at a time (%(default)s)")
    codec = commands.add_parser("codec", help="train the codec; goes on from its last checkpoint")
    codec.add_argument("--until", help="the name of the last stage to run (default: all)")
    codec.add_argument("--device", default="cpu", help="cpu or cuda (%(default)s)")
    check = commands.add_parser("check", help="measure a codec: the words in its sound and in its codes")
    check.add_argument("--codec", type=Path, help="folder with mimi.safetensors and mimi.json")
    check.add_argument(
        "--parts",
        nargs="+",
        choices=("originals", "words", "probe", "ceiling"),
        default=["words", "probe"],
        help="what to measure (%(default)s)",
    )
    for command in (data, codec, check):
        command.add_argument(
            "--folder", type=Path, default=default_folder(), help="data and checkpoints (%(default)s)"
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
