"""`python -m evals score|report|run|export`: hands over to the command."""

from __future__ import annotations

import sys
from importlib import import_module

COMMANDS = {
    "score": ("evals.score", "score recorded conversations"),
    "report": ("evals.report.command", "one HTML page from what score wrote"),
    "run": ("evals.run", "have scenarios' conversations with a server, and score them"),
    "export": ("evals.export", "what score wrote, in the formats of other tools"),
}


def main(argv: list[str]) -> int:
    if not argv or argv[0] not in COMMANDS:
        print("usage: python -m evals COMMAND ...", file=sys.stderr)
        for name, (_, about) in COMMANDS.items():
            print(f"  {name:8}{about} (--help for more)", file=sys.stderr)
        return 0 if argv and argv[0] in ("-h", "--help") else 2
    module = import_module(COMMANDS[argv[0]][0])
    return int(module.main(argv[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
