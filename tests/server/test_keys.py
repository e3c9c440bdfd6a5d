"""Keys come from a file and the environment, and a key that got lost never opens the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.keys import read_keys
from server.settings import ConfigError


def keys_file(folder: Path, text: str) -> Path:
    path = folder / "keys"
    path.write_text(text)
    return path


def test_a_file_gives_one_key_a_line_without_blank_lines_and_comments(tmp_path: Path) -> None:
    path = keys_file(tmp_path, "# of the clinic\nalpha\n\n  beta  \r\n")
    assert read_keys(path, {}) == ("alpha", "beta")


def test_the_environment_adds_to_the_file_and_a_key_in_both_counts_once(tmp_path: Path) -> None:
    path = keys_file(tmp_path, "alpha\nbeta\n")
    assert read_keys(path, {"DUET_API_KEYS": "beta, gamma"}) == ("alpha", "beta", "gamma")


def test_without_file_and_variable_there_are_no_keys() -> None:
    assert read_keys(None, {}) == ()


@pytest.mark.parametrize("text", ["", "\n \n", "# nothing yet\n"])
def test_a_file_without_a_key_is_an_error_and_not_an_open_server(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="gives no key"):
        read_keys(keys_file(tmp_path, text), {})


@pytest.mark.parametrize("value", ["", " , "])
def test_an_empty_variable_is_an_error_and_not_an_open_server(value: str) -> None:
    with pytest.raises(ConfigError, match="DUET_API_KEYS"):
        read_keys(None, {"DUET_API_KEYS": value})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read: .*nowhere: No such file"):
        read_keys(tmp_path / "nowhere", {})


def test_a_file_that_is_not_text_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not text"):
        read_keys(path, {})


def test_a_key_no_header_can_carry_is_refused_by_its_number_and_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="key 2 ") as refused:
        read_keys(keys_file(tmp_path, "alpha\nzwei wörter\n"), {})
    assert "zwei" not in str(refused.value)
