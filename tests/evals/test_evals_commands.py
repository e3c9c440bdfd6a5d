"""`python -m evals`: each command is there, and nothing else."""

from __future__ import annotations

import pytest

from evals.__main__ import COMMANDS, main


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    assert "usage: " in capsys.readouterr().out


@pytest.mark.parametrize(("argv", "code"), [([], 2), (["nothing"], 2), (["--help"], 0)])
def test_without_a_command_the_commands_are_listed(
    argv: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == code
    said = capsys.readouterr().err
    assert [name for name in COMMANDS if name not in said] == []
