"""The TOML file of the rules: read once at the start, and every mistake told with file and line.

    [[rule]]
    name = "prices"
    listen = ["agent_text"]          # user, agent_text, agent_audio: one or several
    phrases = ["money back"]         # or: regex = 'card (number )?\\d+'
    action = "mute"                  # flag, mute, end, webhook
                                     # a webhook has a url = "https://..."

Refuses to know what a rule may say (`server.guardrails.rules`).
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from server.guardrails.rules import BadRule, Rule, Rules, make_rule
from server.settings import ConfigError

HEADER = ""
"""In a `Place`: the line of the rule's [[rule]] itself."""
Place = tuple[int, str]
"""A rule's number in the file, -1 above the first, and a key of it."""
_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)$")


class RulesError(ConfigError):
    """A rules file that cannot be used. `line` is 1 for the first."""

    def __init__(self, path: Path, line: int, problem: str) -> None:
        super().__init__("guardrails", f"{path}:{line}: {problem}")
        self.line = line

    @property
    def on_command_line(self) -> str:
        return self.problem


def load_rules(path: Path) -> Rules:
    """Reads and checks every rule.

    Raises:
        ConfigError: the file cannot be read.
        RulesError: what stands in it cannot be used.
    """
    text = _read(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _bad_toml(path, text, str(error)) from None
    tables = _tables(path, document, text)
    rules: dict[str, Rule] = {}
    for number, table in enumerate(tables):
        try:
            rule = make_rule(table)
            if rule.name in rules:
                raise BadRule("name", f"must be another in each rule, and {rule.name!r} is taken")
        except BadRule as error:
            raise RulesError(path, _line(text, number, error.key), str(error)) from None
        rules[rule.name] = rule
    return Rules(tuple(rules.values()))


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError("guardrails", f"cannot read {path}: {error.strerror}") from error
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise RulesError(path, data[: error.start].count(b"\n") + 1, "must be UTF-8") from None


def _bad_toml(path: Path, text: str, said: str) -> RulesError:
    where = _AT_LINE.search(said)
    line = int(where[1]) if where else len(text.rstrip("\n").split("\n"))
    return RulesError(path, line, f"must be TOML: {_AT_LINE.sub('', said)}")


def _tables(path: Path, document: dict[str, Any], text: str) -> list[dict[str, Any]]:
    for key in document:
        if key != "rule":
            line = _lines(text).get((-1, key), 1)
            raise RulesError(path, line, f"{key}: is nothing that this file has; there are [[rule]]s only")
    tables = document.get("rule")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise RulesError(path, _lines(text).get((-1, "rule"), 1), "rule: must be at least one table [[rule]]")
    return tables


# -- lines, which tomllib does not tell -----------------------------------------------------------


def _line(text: str, rule: int, key: str) -> int:
    """The key's, where it stands; else its rule's."""
    lines = _lines(text)
    return lines.get((rule, key)) or lines.get((rule, HEADER)) or lines[-1, "rule"]


def _lines(text: str) -> dict[Place, int]:
    """The line on which each statement of a TOML text begins. The text parses.

    A statement is the fewest lines from its first on that parse by themselves.
    """
    found: dict[Place, int] = {}
    rule, statement, first = -1, "", 1
    for number, line in enumerate(text.split("\n"), 1):
        statement += line + "\n"
        if line.endswith(",") and "#" not in line:
            continue  # a list goes on: one of thousands of phrases is not read again for each of them
        try:
            said = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue  # a text or a list that goes on
        header = statement.lstrip().startswith("[")
        if isinstance(said.get("rule"), list) and header:
            rule += 1
            found[rule, HEADER] = first
        elif header and isinstance(said.get("rule"), dict):  # [rule.key]
            found.update({(rule, key): first for key in said["rule"]})
        else:
            found.update({(-1 if header else rule, key): first for key in said if (rule, key) not in found})
        statement, first = "", number + 1
    return found
