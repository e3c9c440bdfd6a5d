"""Where compiled kernels lie between starts."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.compact.kernels.shelf import FORGOTTEN_S, SEAL, Shelf

DAMAGED = "compiled kernels were damaged or not all there: compiling them anew, for some seconds"
ONCE = "compiling kernels for this processor, once: this takes some seconds"
ALWAYS = "the CPU's kernels are compiled at every start, for some seconds: "


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Path:
    caplog.set_level("INFO")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def filled() -> Path:
    """A shelf with two files, sealed."""
    shelf = Shelf("one")
    assert shelf.folder is not None
    (shelf.folder / "part").mkdir()
    (shelf.folder / "index").write_bytes(b"an index")
    (shelf.folder / "part" / "code").write_bytes(b"machine code")
    shelf.seal()
    return shelf.folder


def test_an_empty_shelf_says_that_it_takes_a_while(caplog: pytest.LogCaptureFixture) -> None:
    Shelf("one")
    assert caplog.messages == [ONCE]


def test_what_was_sealed_is_found_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    folder = filled()
    caplog.clear()
    assert Shelf("one").folder == folder
    assert (folder / "part" / "code").read_bytes() == b"machine code"
    assert caplog.messages == []


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: (folder / "part" / "code").write_bytes(b""),
        lambda folder: (folder / "part" / "code").write_bytes(b"machine cod"),
        lambda folder: (folder / "part" / "code").write_bytes(b"mAchine code"),
        lambda folder: (folder / "part" / "code").unlink(),
        lambda folder: (folder / "index").write_bytes(b"another"),
        lambda folder: (folder / "more").write_bytes(b"unsealed"),
        lambda folder: (folder / SEAL).write_text(""),
        lambda folder: (folder / SEAL).unlink(),
    ],
    ids=["emptied", "cut", "changed", "lost", "index", "more", "seal emptied", "seal lost"],
)
def test_what_is_not_as_sealed_is_thrown_away(
    harm: Callable[[Path], Any], caplog: pytest.LogCaptureFixture
) -> None:
    folder = filled()
    harm(folder)
    caplog.clear()
    assert Shelf("one").folder == folder
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    assert caplog.messages == [DAMAGED]


def test_where_nothing_can_be_written_nothing_is_kept(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    (cache / "duet").touch()
    shelf = Shelf("one")
    shelf.seal()
    assert shelf.folder is None
    assert [message.startswith(ALWAYS) for message in caplog.messages] == [True]


def test_a_user_without_a_home_folder_keeps_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def nobody(uid: int) -> Any:
        raise KeyError(uid)

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert Shelf("one").folder is None
    assert caplog.messages == [ALWAYS + "Could not determine home directory."]


def test_other_versions_are_kept_for_thirty_days(cache: Path) -> None:
    kernels = cache / "duet" / "kernels"
    for name, days in (("old", 31), ("young", 29)):
        (kernels / name).mkdir(parents=True)
        then = (kernels / name).stat().st_mtime - days * 24 * 3600
        os.utime(kernels / name, (then, then))
    Shelf("one")
    assert FORGOTTEN_S == 30 * 24 * 3600
    assert sorted(path.name for path in kernels.iterdir()) == ["one", "young"]
