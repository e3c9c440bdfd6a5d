"""The command line of the training recipe. Decides nothing but what is called."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from model.cache import cache_folder
from model.config import ModelError

BUILTIN = Path(__file__).parents[1] / "builtin"


def default_folder() -> Path:
    """Where data and checkpoints are kept: outside the repository, they are large."""
    return cache_folder() / "training"


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


def _drafts(options: argparse.Namespace) -> int:
    from model.training.make_windows import make_drafts

    make_drafts(options.folder, count=options.count, part=options.part - 1, parts=options.parts)
    return 0


def _windows(options: argparse.Namespace) -> int:
    from model.training.make_windows import make_windows

    codec = options.codec or options.folder / "codec"
    make_windows(options.folder, codec, count=options.count, part=options.part - 1, parts=options.parts)
    return 0


def _lm(options: argparse.Namespace) -> int:
    from model.training.train_lm import train_lm

    codec = options.codec or options.folder / "codec"
    train_lm(options.folder, codec, start=options.start, threads=options.threads)
    return 0


def _export(options: argparse.Namespace) -> int:
    from model.training.builtin import export_pair

    codec = options.codec or options.folder / "codec"
    export_pair(options.folder, codec, options.out, options.trained_on)
    return 0


def _talk(options: argparse.Namespace) -> int:
    from model.training.gate_b import COUNTS, SHORT, Check, gate_b

    among = SHORT if options.short else COUNTS
    counts = {kind: count for kind, count in among.items() if not options.kinds or kind in options.kinds}
    check = Check(options.users, counts, words=not options.deaf, recordings=options.recordings)
    gate_b(options.folder, options.model, check, options.report)
    return 0


_COMMANDS = {
    "drafts": _drafts,
    "windows": _windows,
    "lm": _lm,
    "export": _export,
    "talk": _talk,
    "data": _data,
    "codec": _codec,
    "check": _check,
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m model.training", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    data = commands.add_parser("data", help="speak the users and the agent, and listen with the teacher")
    data.add_argument("--workers", type=int, default=2, help="synthesisers run at a time (%(default)s)")
    codec = commands.add_parser("codec", help="train the codec; goes on from its last checkpoint")
    codec.add_argument("--until", help="the name of the last stage to run (default: all)")
    codec.add_argument("--device", default="cpu", help="cpu or cuda (%(default)s)")
    drafts = commands.add_parser("drafts", help="make training conversations as sound, before the codec")
    windows = commands.add_parser("windows", help="encode training conversations; may run beside lm")
    for command in (drafts, windows):
        command.add_argument("--count", type=int, default=4000, help="how many in all (%(default)s)")
        command.add_argument("--part", type=int, default=1, help="which of several makers (%(default)s)")
        command.add_argument("--parts", type=int, default=1, help="how many makers there are (%(default)s)")
    lm = commands.add_parser("lm", help="train the language model; goes on from its last checkpoint")
    lm.add_argument("--threads", type=int, default=1, help="processor cores to use (%(default)s)")
    lm.add_argument("--start", type=Path, help="folder of a pair whose language model is to learn on")
    check = commands.add_parser("check", help="measure a codec: the words in its sound and in its codes")
    export = commands.add_parser("export", help="write the pair as moshi's loaders take it")
    export.add_argument("--out", type=Path, default=BUILTIN, help="folder to write (%(default)s)")
    export.add_argument(
        "--trained-on", type=Path, help="the codec of the windows, if only the decoder is another"
    )
    talk = commands.add_parser("talk", help="measure the pair in conversation")
    talk.add_argument("--model", type=Path, default=BUILTIN, help="folder of the pair (%(default)s)")
    talk.add_argument(
        "--users", choices=("held_out", "dev"), default="held_out", help="whose voices (%(default)s)"
    )
    talk.add_argument("--kinds", nargs="+", help="only these kinds of call, as the figures name them")
    talk.add_argument("--short", action="store_true", help="fewer calls")
    talk.add_argument("--deaf", action="store_true", help="without Whisper")
    talk.add_argument("--recordings", type=Path, help="folder with recordings of real people, to try too")
    talk.add_argument("--report", type=Path, help="JSON file for the figures and every call")
    for command in (windows, lm, export, check):
        command.add_argument("--codec", type=Path, help="folder with mimi.safetensors and mimi.json")
    check.add_argument(
        "--parts",
        nargs="+",
        choices=("originals", "words", "probe", "ceiling"),
        default=["words", "probe"],
        help="what to measure (%(default)s)",
    )
    for command in (data, codec, drafts, windows, lm, export, check, talk):
        command.add_argument(
            "--folder", type=Path, default=default_folder(), help="data and checkpoints (%(default)s)"
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
