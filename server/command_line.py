"""What a person types and reads: the options, the one line of an error, the one line of readiness.

    duet serve [options]        the same as    python -m server [options]

Refuses to know how a server is made (`server.main`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from model.config import ModelInfo
from server.config import ServerConfig, add_options, from_options
from server.keys import read_keys
from server.settings import ConfigError

CANNOT_START = 2
"""The exit code of everything that the person who typed the command can mend."""


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        fail(message)


def command_parser() -> argparse.ArgumentParser:
    """No option can be shortened: `--api-keys` must not pass for `--api-keys-file`."""
    parser = OneLineParser("duet", description="A full-duplex speech-to-speech server.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_options(commands.add_parser("serve", help="run the server", allow_abbrev=False))
    return parser


def read_command(arguments: Sequence[str], environment: Mapping[str, str]) -> ServerConfig:
    """The settings of `duet serve ...`. Leaves the process with one line where they are no good."""
    options = command_parser().parse_args(arguments)
    try:
        file = from_options(options).api_keys_file
        return from_options(options, read_keys(file, environment))
    except ConfigError as error:
        fail(error.on_command_line)


def fail(problem: str, code: int = CANNOT_START) -> NoReturn:
    """Leaves the process with one line on stderr."""
    print("duet:", " ".join(problem.split()), file=sys.stderr)
    raise SystemExit(code)


def ready_line(urls: Sequence[str], info: ModelInfo, capacity: int) -> str:
    """What stdout gets once the server takes calls, and not before."""
    places = "1 session" if capacity == 1 else f"{capacity} sessions"
    note = "" if info.trained else "; this model is untrained: it answers every frame, but not in words"
    return f"Duet is ready at {' and '.join(urls)} ({places}, model {info.name} on {info.device}{note})"
