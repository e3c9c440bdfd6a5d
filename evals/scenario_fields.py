"""Reading a scenario file's tables: each mistake is one line with the file, the key and what is allowed.

Refuses to know what a scenario is.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class ScenarioError(ValueError):
    """A scenario that cannot be played; its text is one line for a person."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a TOML file. where: its place in the file, such as `say[2].`, empty at the top.

    Every reader raises ScenarioError.
    """

    path: Path
    where: str
    data: dict[str, Any]

    def refuse(self, key: str, problem: str) -> ScenarioError:
        return ScenarioError(f"{self.path}: {self.where}{key} {problem}")

    def get(self, key: str) -> Any:
        """The raw value, None where there is none."""
        return self.data.get(key)

    def number(self, key: str, default: float | None, low: float, high: float) -> float | None:
        """A finite number within [low, high], whole or not."""
        value = self.get(key)
        if value is None:
            return default
        good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not good or not low <= value <= high:
            raise self.refuse(key, f"must be a number from {low:g} to {high:g}, not {show(value)}")
        return float(value)

    def text(self, key: str, default: str | None = None) -> str | None:
        value = self.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self.refuse(key, f"must be text that is not empty, not {show(value)}")
        return default if value is None else value

    def name(self, key: str, default: str | None = None) -> str | None:
        """Lower-case letters, digits, - and _."""
        value = self.get(key)
        if value is not None and (not isinstance(value, str) or not is_name(value)):
            raise self.refuse(
                key, f"must be a name of lower-case letters, digits, - and _, not {show(value)}"
            )
        return default if value is None else value

    def choice(self, key: str, default: str | None, allowed: tuple[str, ...]) -> str | None:
        value = self.get(key)
        if value is not None and value not in allowed:
            raise self.refuse(key, f"must be one of {', '.join(allowed)}, not {show(value)}")
        return default if value is None else str(value)

    def required(self, key: str, what: str) -> None:
        if self.data.get(key) is None:
            raise self.refuse(key, f"is missing: {what}")

    def check_keys(self, allowed: tuple[str, ...]) -> None:
        for key in self.data:
            if key not in allowed:
                raise self.refuse(key, f"is no key of a scenario; allowed here: {', '.join(allowed)}")


def is_name(text: str) -> bool:
    return re.fullmatch(r"[a-z0-9][a-z0-9_-]*", text) is not None


def show(value: Any) -> str:
    """A value as a person would find it in the file, short enough for one line."""
    if isinstance(value, str):
        shown = f'"{value}"'
    elif isinstance(value, bool):
        shown = str(value).lower()
    else:
        shown = str(value)
    shown = " ".join(shown.split())
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
