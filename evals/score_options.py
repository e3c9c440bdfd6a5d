"""What `score` can be asked for. Refuses to know how it is done."""

from __future__ import annotations

import argparse
import json
import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from evals.activity import DETECTORS
from evals.backchannels import RULES
from evals.extras import Extras
from evals.scoring import Settings
from evals.thresholds import Thresholds, parse_threshold

CHANNEL_ORDERS = {"user,agent": 0, "agent,user": 1}


class UsageError(Exception):
    """What was asked cannot be done; the message is one line."""


@dataclass(frozen=True)
class Options:
    """Defaults are here; the command line reads them."""

    paths: tuple[Path, ...] = ()
    out: Path = Path("scores")
    user_channel: int = 0
    settings: Settings = Settings()
    extras: Extras = Extras()
    jobs: int = 1
    report: bool = True
    quiet: bool = False


class _OneLine(argparse.ArgumentParser):
    """Raises instead of printing the usage and leaving."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def parse(argv: list[str]) -> Options:
    """Raises UsageError naming the option and the allowed values."""
    given = _parser().parse_args(argv)
    if given.jobs < 1:
        raise UsageError("--jobs must be 1 or more")
    if bool(given.judge_url) != bool(given.judge_model):
        raise UsageError("--judge-url and --judge-model go together")
    return Options(
        tuple(given.paths),
        given.out,
        CHANNEL_ORDERS[given.channels],
        _settings(given),
        Extras(given.asr, given.language, given.mos, given.judge_url, given.judge_model, given.out / "judge"),
        given.jobs,
        not given.no_report,
        given.quiet,
    )


def _parser() -> argparse.ArgumentParser:
    default = Settings()
    parser = _OneLine(prog="evals score", description="Score recorded two-channel conversations.")
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="PATH", help="a recording, or a folder of them to any depth")
    add("-o", "--out", type=Path, default=Options.out, help="where the results go (default: %(default)s)")
    add(
        "--channels",
        choices=CHANNEL_ORDERS,
        default="user,agent",
        help="of stereo files (default: %(default)s)",
    )
    add("--activity", choices=DETECTORS, default=default.detector, help="layer (default: %(default)s)")
    add("--backchannel-rule", choices=RULES, default=default.rule, help="(default: %(default)s)")
    add("--threshold", action="append", default=[], metavar="NAME=VALUE", help="change one; may be repeated")
    add("--human", type=Path, help="JSON list of human floor-transfer offsets in seconds, for w1_human")
    add("--backchannel-reference", type=Path, help="JSON object of conversation id and human histogram")
    add("--asr", metavar="MODEL", help="make the words here: a Whisper model's name or folder")
    add("--language", help="for --asr (default: detected)")
    add("--mos", metavar="MODULE:FUNCTION", help="speech quality: called with samples and rate")
    add("--judge-url", help="an OpenAI-compatible endpoint that grades content, with --judge-model")
    add("--judge-model", default="", help="the judge's name there")
    add(
        "--jobs",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="side by side (default: the cores there are)",
    )
    add("--no-report", action="store_true", help="write no HTML page")
    add("--quiet", action="store_true", help="no progress bar")
    return parser


def _settings(given: argparse.Namespace) -> Settings:
    try:
        changed = dict(map(parse_threshold, given.threshold))
        thresholds = replace(Thresholds(), **changed)
    except ValueError as error:
        raise UsageError(f"--threshold: {error}") from None
    return Settings(
        given.activity,
        given.backchannel_rule,
        thresholds,
        _human(given.human) if given.human else None,
        _references(given.backchannel_reference) if given.backchannel_reference else {},
    )


def _human(path: Path) -> tuple[float, ...]:
    data = _json("--human", path)
    try:
        return _finite(data)
    except (TypeError, ValueError):
        raise UsageError(f"--human: {path} must be a JSON list of seconds") from None


def _references(path: Path) -> dict[str, tuple[float, ...]]:
    data = _json("--backchannel-reference", path)
    try:
        return {str(k): _finite(v) for k, v in data.items()}  # type: ignore[attr-defined]
    except (AttributeError, TypeError, ValueError):
        raise UsageError(f"--backchannel-reference: {path} must be an object of lists of numbers") from None


def _finite(values: object) -> tuple[float, ...]:
    """Raises TypeError or ValueError where it is no list of finite numbers."""
    found = tuple(float(value) for value in values)  # type: ignore[attr-defined]
    if not all(map(math.isfinite, found)):
        raise ValueError(values)
    return found


def _json(option: str, path: Path) -> object:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{option}: {path} cannot be read as JSON: {str(error).splitlines()[0]}") from None
