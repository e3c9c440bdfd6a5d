"""A mistake on the command line is one line and an exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from transcribe_sidecar.__main__ import CANNOT, NO_MODEL, main
from transcribe_sidecar.config import parse


@pytest.fixture(autouse=True)
def _at_normal_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transcribe_sidecar.__main__._step_back", lambda _: None)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--model", "no-such-model"], NO_MODEL, "not on this machine"),
        (["--device", "tpu"], CANNOT, "auto, cpu, cuda"),
        (["--threads", "0"], CANNOT, "--threads must be"),
        (["--language", "English"], CANNOT, "--language must be"),
        (["--api-key-file", "/nowhere/key"], CANNOT, "--api-key-file"),
    ],
)
def test_a_mistake_is_one_line_and_an_exit_code(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_the_key_comes_from_the_environment_or_a_file_and_shows_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUET_API_KEY", "from-environment")
    assert parse([]).key == "from-environment"
    (tmp_path / "key").write_text("from-file\n")
    settings = parse(["--api-key-file", str(tmp_path / "key")])
    assert settings.key == "from-file"
    assert "from-file" not in repr(settings)
