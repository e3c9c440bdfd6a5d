"""`python -m duet_client`: play a recording to a server, talk to it, or measure it.

Exit codes: 0 done, 2 what was asked cannot be done (one line says why), 3 a measurement that must not
be used, 130 interrupted.
"""

from __future__ import annotations

import sys

from duet_client.commandline import parse, run
from duet_client.errors import DuetError


def main(argv: list[str] | None = None) -> int:
    arguments = parse(argv)
    try:
        return run(arguments)
    except (DuetError, OSError) as error:
        print(f"duet_client: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
