"""Files that are there whole or not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import pytest

from model.training.files import write_whole


def test_two_writers_at_once_leave_one_whole_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "styles"

    def slowly(file: IO[bytes]) -> None:
        file.write(b"first ")
        with ThreadPoolExecutor(1) as other:
            other.submit(write_whole, path, lambda beside: beside.write(b"of the other")).result()
        assert path.read_bytes() == b"of the other"
        file.write(b"and last")

    write_whole(path, slowly)

    assert path.read_bytes() == b"first and last"
    assert list(tmp_path.iterdir()) == [path]


def test_a_writer_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "styles"
    path.write_bytes(b"kept")

    def fails(file: IO[bytes]) -> None:
        file.write(b"half")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        write_whole(path, fails)

    assert path.read_bytes() == b"kept"
