"""The generated checkpoint: the same everywhere, whole or absent, and not deaf."""

from __future__ import annotations

import errno
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from model.checkpoint import load
from model.config import ModelError
from model.fingerprint import fingerprint
from model.untrained import ensure_untrained, write_untrained
from tests.model.rows import Call, build_compact, play, sound

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 120


def test_two_writings_are_byte_for_byte_the_same(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_untrained(tmp_path / name)
    for file in (tmp_path / "a").iterdir():
        assert fingerprint([file]) == fingerprint([tmp_path / "b" / file.name])


def test_writing_leaves_the_global_generator_alone(tmp_path: Path) -> None:
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    write_untrained(tmp_path)
    assert torch.equal(torch.rand(1), expected)


def test_it_is_written_once_and_found_again(tmp_path: Path) -> None:
    folder = ensure_untrained(tmp_path / "kept")
    before = (folder / "model.safetensors").stat().st_mtime_ns
    assert ensure_untrained(folder) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == before
    assert list(tmp_path.iterdir()) == [folder]  # no draft left beside it


KILLED_MAKER = """
import os, pathlib, signal, sys
from model import untrained
untrained.write_untrained = lambda draft: os.kill(os.getpid(), signal.SIGKILL)
untrained.ensure_untrained(pathlib.Path(sys.argv[1]))
"""
MAKER = """
import pathlib, sys
from model.untrained import ensure_untrained
ensure_untrained(pathlib.Path(sys.argv[1]))
"""


def python(script: str, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", script, str(folder)], cwd=ROOT)


def test_what_a_killed_process_left_is_gone_after_the_next_writing(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    assert python(KILLED_MAKER, folder).wait(WAIT_S) == -signal.SIGKILL
    (draft,) = tmp_path.iterdir()
    assert draft.name.startswith("kept-draft-")
    ensure_untrained(folder)
    assert list(tmp_path.iterdir()) == [folder]


def test_two_that_start_at_once_do_not_take_each_others_draft_away(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    makers = [python(MAKER, folder) for _ in range(2)]
    assert [maker.wait(WAIT_S) for maker in makers] == [0, 0]
    assert list(tmp_path.iterdir()) == [folder]
    assert (folder / "config.json").is_file()


def test_a_file_system_without_locks_gets_its_checkpoint_and_nobodys_draft_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    (tmp_path / "kept-draft-other").mkdir()
    ensure_untrained(tmp_path / "kept")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "kept-draft-other"]


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="cannot write the untrained checkpoint"):
        ensure_untrained(tmp_path / "file" / "kept")


def test_its_voice_is_quiet_noise_that_follows_the_user(tmp_path: Path) -> None:
    runtime = build_compact(load(str(ensure_untrained(tmp_path / "m")), "cpu", torch.float32), 1)
    call, other = play(runtime, Call(0, sound(1, 30))), play(runtime, Call(0, sound(2, 30)))
    rms = float(np.sqrt(np.mean(np.square(call.pcm[5:]))))
    assert 0.003 < rms < 0.03  # -50 to -30 dBFS
    assert call.tokens != other.tokens


def test_a_full_disk_is_one_line_and_leaves_nothing_behind(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))  # refused as a full disk refuses
    try:
        with pytest.raises(ModelError, match="cannot write the untrained checkpoint to .*model: .") as caught:
            ensure_untrained(tmp_path / "model")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
