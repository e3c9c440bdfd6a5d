"""The command line: only what exists, and one line for what goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.training.__main__ import main


@pytest.mark.parametrize("command", ["codec", "check"])
def test_without_data_a_command_says_so_in_one_line(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--folder", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1


def test_an_unknown_stage_is_refused_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["codec", "--folder", str(tmp_path), "--until", "later"]) == 2
    assert "--until must be one of joint, joint-agent, decoder" in capsys.readouterr().err


def test_a_command_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["sing"])
    assert "invalid choice: 'sing'" in capsys.readouterr().err
