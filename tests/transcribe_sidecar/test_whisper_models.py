"""A model is found where it lies, and where it does not one line says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transcribe_sidecar.spoken import NEEDS_WHISPER
from transcribe_sidecar.errors import NoModel
from transcribe_sidecar.models import ON_GPU, find


@NEEDS_WHISPER
def test_tiny_en_is_found_in_an_installed_package() -> None:
    found = find("auto", "cpu")
    assert found.name == "tiny.en"
    assert (found.folder / "model.bin").is_file()


def test_a_folder_is_a_model_and_its_name_the_models(tmp_path: Path) -> None:
    (tmp_path / "model.bin").touch()
    assert find(str(tmp_path), "cpu").name == tmp_path.name


def test_a_folder_without_a_model_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(NoModel, match=r"holds no model\.bin"):
        find(str(tmp_path), "cpu")


@pytest.mark.parametrize("name", ["no-such-model", "nobody/nothing", "large-v1"])
def test_a_model_that_is_not_here_is_not_fetched(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(NoModel, match="is not on this machine"):
        find(name, "cpu")


@NEEDS_WHISPER
def test_a_gpu_without_the_large_model_uses_the_small_one_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("transcribe_sidecar.models._cached", lambda _: None)
    found = find("auto", "cuda")
    assert found.name == "tiny.en"
    assert ON_GPU in found.note
