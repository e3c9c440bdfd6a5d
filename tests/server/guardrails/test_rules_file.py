"""The file of the rules: what is read, and that a mistake is told with its line."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from server.guardrails.rules_file import RulesError, load_rules
from server.settings import ConfigError

ROOT = Path(__file__).resolve().parents[3]
RULE = """\
# the first line

[[rule]]
name = "prices"   # a comment with [[rule]] in it
listen = [
    "user",
    "agent_text",  # both
]
phrases = ['money [[rule]] back', \"\"\"
name = "no key"
\"\"\"]
action = "mute"
"""


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "rules.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def problem(folder: Path, text: str | bytes) -> str:
    """The one line, without the folder."""
    with pytest.raises(RulesError) as caught:
        load_rules(write(folder, text))
    line = caught.value.on_command_line
    assert "\n" not in line
    return line.removeprefix(f"{folder}/")


def test_the_example_that_comes_along_is_read() -> None:
    rules = load_rules(ROOT / "docs" / "guardrails.toml").all
    assert {rule.action for rule in rules} == {"flag", "mute", "end", "webhook"}
    assert {listen for rule in rules for listen in rule.listen} == {"user", "agent_text", "agent_audio"}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_rules_come_in_the_order_of_the_file(tmp_path: Path, newline: str) -> None:
    text = RULE + RULE.replace("prices", "other")
    rules = load_rules(write(tmp_path, text.replace("\n", newline)))
    assert [rule.name for rule in rules.all] == ["prices", "other"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            RULE.replace('"mute"', '"stop"'),
            ":12: action: must be one of flag, mute, end, webhook, not 'stop'",
        ),
        (RULE.replace('    "user",', '    "caller",'), ":5: listen: must be one of user, agent_text"),
        (
            RULE.replace("money [[rule]] back", "?"),
            ":9: phrases: must have 1 to 400 letters or digits, and number 1",
        ),
        (RULE.replace("action", "acton"), ":12: acton: is no field of a rule"),
        (RULE.replace('action = "mute"', ""), ":3: action: is missing"),
        (RULE + "regex = '('", ":13: regex: stands beside phrases"),
        (RULE + "\n[rule.more]\nx = 1\n", ":14: more: is no field of a rule"),
        (RULE + RULE, ":16: name: must be another in each rule, and 'prices' is taken"),
        (RULE + "[limits]\n", ":13: limits: is nothing that this file has"),
        ("rules = []\n" + RULE, ":1: rules: is nothing that this file has"),
        (
            "\n\nrule = [{name = 'a', listen = [], phrases = ['b'], action = 'flag'}]",
            ":3: listen: must be a list",
        ),
        ("\nrule = 3\n", ":2: rule: must be at least one table [[rule]]"),
        ("# nothing\n", ":1: rule: must be at least one table [[rule]]"),
        (RULE + 'name = "again"\n', ":13: must be TOML: Cannot overwrite a value"),
        (RULE + "name 3\n", ":13: must be TOML: Expected '='"),
        (RULE + "x = [\n\n", ":13: must be TOML: Invalid value (at end of document)"),
        (RULE.encode() + b"# \xff\n", ":13: must be UTF-8"),
    ],
)
def test_a_mistake_is_told_with_the_line_it_stands_on(tmp_path: Path, text: str | bytes, told: str) -> None:
    assert problem(tmp_path, text).startswith(f"rules.toml{told}")


def test_a_file_that_is_not_there_is_told_as_the_option_it_came_from(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_rules(tmp_path / "none.toml")
    assert caught.value.on_command_line.startswith("--guardrails cannot read ")


def test_a_server_with_a_mistake_in_its_rules_does_not_start(tmp_path: Path) -> None:
    path = write(tmp_path, RULE.replace('"mute"', '"stop"'))
    command = [sys.executable, "-m", "server", "--port", "0", "--guardrails", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"{path}:12: action: must be one of" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("comment", "mistake"), [("  # as said", ""), ("", "action = 3\n")])
def test_a_list_of_many_lines_is_not_read_again_for_each_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comment: str, mistake: str
) -> None:
    """Lists of thousands of phrases are usual."""
    many = "".join(f'    "phrase number {number}",{comment}\n' for number in range(200))
    text = RULE.replace("phrases = [", f"phrases = [\n{many}").replace(
        'action = "mute"\n', mistake or 'action = "mute"\n'
    )
    read = tomllib.loads
    sizes: list[int] = []

    def counted(text: str) -> dict[str, Any]:
        sizes.append(len(text))
        return read(text)

    monkeypatch.setattr(tomllib, "loads", counted)
    if mistake:
        assert problem(tmp_path, text).startswith(f"rules.toml:{text.count(chr(10))}: action: must be one of")
    else:
        load_rules(write(tmp_path, text))
    assert sum(sizes) < 5 * len(text)
