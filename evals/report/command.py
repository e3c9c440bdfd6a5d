"""`python -m evals report RUN_DIR [--compare OTHER_DIR] -o report.html`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from evals.report.gather import BadRun, open_run


@dataclass(frozen=True)
class ReportOptions:
    """What the command line can change.

    audio_limit_mb: how much of the page may be sound (base64, megabytes of 10^6 bytes); 0: none.
    """

    out: Path = Path("report.html")
    audio_limit_mb: float = 10.0


class _OneLine(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"report: {message}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """0: written. 2: one line on standard error says what is wrong."""
    arguments = _parser().parse_args(argv)
    try:
        from evals.report.write import write_report
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        print(f"report: {package} is not installed: pip install 'duet[evals]'", file=sys.stderr)
        return 2
    try:
        if not arguments.audio_limit_mb >= 0:
            raise BadRun(f"--audio-limit-mb must be 0 or more, not {arguments.audio_limit_mb}")
        other = open_run(arguments.compare) if arguments.compare else None
        written = write_report(open_run(arguments.run), other, arguments.out, arguments.audio_limit_mb)
    except (BadRun, OSError) as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
    print(written)
    return 0


def _parser() -> argparse.ArgumentParser:
    options = ReportOptions()
    parser = _OneLine("python -m evals report", description=__doc__)
    parser.add_argument("run", type=Path, metavar="RUN_DIR", help="what `score` wrote with -o")
    parser.add_argument("--compare", type=Path, metavar="OTHER_DIR", help="another run on the same stimuli")
    parser.add_argument(
        "-o", dest="out", type=Path, default=options.out, metavar="FILE", help="default: %(default)s"
    )
    parser.add_argument(
        "--audio-limit-mb",
        type=float,
        default=options.audio_limit_mb,
        metavar="MB",
        help="most megabytes of sound in the file, 0 for none (default: %(default)g); about 0.54 a minute",
    )
    return parser
