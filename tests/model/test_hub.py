"""The hub: one line when it cannot be reached, and what was downloaded before is used without it."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import pytest
from huggingface_hub import constants

from model.checkpoint import resolve
from model.config import ModelError

NAME = "somebody/their-model"
COMMIT = "c" * 40


@pytest.fixture
def nobody_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub is a port that refuses; its local cache, still empty."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_an_unreachable_hub_is_one_line_with_the_reason_and_nothing_is_logged_beside_it(
    nobody_listens: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert not nobody_listens.exists()
    with pytest.raises(ModelError) as caught:
        resolve(NAME)
    message = str(caught.value)
    assert message.startswith(f"model {NAME}: not a folder here, and the hub did not give it: ")
    assert message.endswith("Connection refused")
    assert "\n" not in message
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


def test_a_model_that_was_downloaded_before_is_found_without_the_hub(
    nobody_listens: Path, small_folder: Path
) -> None:
    kept = nobody_listens / f"models--{NAME.replace('/', '--')}"
    shutil.copytree(small_folder, kept / "snapshots" / COMMIT)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text(COMMIT)
    assert resolve(NAME).moshi_weights == kept / "snapshots" / COMMIT / "model.safetensors"
    assert not constants.HF_HUB_OFFLINE


def test_a_name_that_no_repository_can_have_is_told_as_such_also_without_the_hub(
    nobody_listens: Path,
) -> None:
    assert not nobody_listens.exists()
    with pytest.raises(ModelError, match="Repo id must use alphanumeric chars"):
        resolve("some body/their-model")
