"""The API keys, read from where an operator keeps them: a file, the environment, or both.

Refuses to know how a key is presented or compared (`server.auth`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from server.settings import ConfigError

VARIABLE = "DUET_API_KEYS"

_KEY = re.compile(r"[!-~]+")
"""What survives an HTTP header as it is: printable ASCII without blanks."""


def read_keys(file: Path | None, environment: Mapping[str, str]) -> tuple[str, ...]:
    """All keys of the file (one a line; blank lines and lines that begin with # are skipped) and of
    the environment variable DUET_API_KEYS (comma separated). Neither given: no keys, and none asked for.

    Raises:
        ConfigError: the file cannot be read, or one of the two is there and holds no key. A key that
            got lost on its way here must not open the server to everybody.
    """
    keys: list[str] = []
    if file is not None:
        keys += _checked(_lines(file), "api_keys_file", f"{file}")
    if VARIABLE in environment:
        keys += _checked(environment[VARIABLE].split(","), "api_keys_file", f"the variable {VARIABLE}")
    return tuple(dict.fromkeys(keys))


def _lines(file: Path) -> list[str]:
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise ConfigError("api_keys_file", f"cannot be read: {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError("api_keys_file", f"cannot be read: {file} is not text") from error
    return [line for line in text.splitlines() if not line.lstrip().startswith("#")]


def _checked(candidates: list[str], field: str, source: str) -> list[str]:
    keys = [candidate.strip() for candidate in candidates if candidate.strip()]
    if not keys:
        raise ConfigError(field, f"gives no key: {source} is empty")
    for number, key in enumerate(keys, 1):
        if not _KEY.fullmatch(key):
            raise ConfigError(
                field, f"gives a bad key: key {number} of {source} must be printable ASCII without blanks"
            )
    return keys
