"""`python -m model COMMAND`: what can be asked of a model without serving it."""

from __future__ import annotations

import argparse

from model.capacity import command
from model.timing import parity, steps


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m model", description=__doc__)
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for room in (command, parity, steps):
        room.add_command(subparsers)
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
