"""What one setting may be: its default, its allowed values, and how the command line's text is read.

Refuses to know which settings there are; `server.config` names them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class ConfigError(ValueError):
    """A setting that cannot be used. `field` is the setting's name, `problem` the rest of the sentence."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field} {problem}")
        self.field = field
        self.problem = problem

    @property
    def on_command_line(self) -> str:
        return f"--{self.field.replace('_', '-')} {self.problem}"


@dataclass(frozen=True, slots=True)
class Rule:
    """The values a setting may have.

    says: the rule in words, after the setting's name.
    read: the command line's text as a value; text it cannot read stays text, which `allows` refuses.
    values: all of them, where they are few.
    repeats: the value is a tuple, and the command line may give the option several times.
    """

    says: str
    allows: Callable[[Any], bool]
    read: Callable[[str], Any] = str
    values: tuple[str, ...] = ()
    repeats: bool = False

    def check(self, name: str, value: object) -> None:
        if not self.allows(value):
            shown = str(value) if isinstance(value, Path) else repr(value)
            raise ConfigError(name, f"{self.says}, not {shown}")


def setting(default: Any, rule: Rule, group: str, help: str) -> Any:
    return field(default=default, metadata={"rule": rule, "group": group, "help": help})


def text(pattern: str, says: str) -> Rule:
    return Rule(says, lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None)


def choice(*values: str) -> Rule:
    return Rule(f"must be one of {', '.join(values)}", lambda value: value in values, values=values)


def whole(least: int, most: int) -> Rule:
    return Rule(
        f"must be a whole number from {least} to {most}",
        lambda value: type(value) is int and least <= value <= most,
        _number_or_text(int),
    )


def steps(least: int, most: int, step: int) -> Rule:
    return Rule(
        f"must be a multiple of {step} from {least} to {most}",
        lambda value: type(value) is int and least <= value <= most and value % step == 0,
        _number_or_text(int),
    )


def seconds(least: float, most: float) -> Rule:
    return Rule(
        f"must be a number of seconds from {least:.12g} to {most:.12g}",
        lambda value: type(value) in (int, float) and math.isfinite(value) and least <= value <= most,
        _number_or_text(float),
    )


def path() -> Rule:
    return Rule("must be a path", lambda value: isinstance(value, Path) and str(value) != "", Path)


def path_or_none() -> Rule:
    return Rule("must be a path", lambda value: value is None or isinstance(value, Path), Path)


def texts(pattern: str, says: str) -> Rule:
    """Any number of texts, as a tuple."""
    one = text(pattern, says)
    return Rule(
        says, lambda value: isinstance(value, tuple) and all(one.allows(item) for item in value), repeats=True
    )


def _number_or_text(kind: type[int] | type[float]) -> Callable[[str], int | float | str]:
    def read(text: str) -> int | float | str:
        try:
            return kind(text)
        except ValueError:
            return text

    return read
