"""One line of a message."""

from __future__ import annotations

import pytest

from model.faults import telling_line


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("one\ntwo", "one"),
        ("\n  indented  \n", "indented"),
        ("Error(s) in loading state_dict for LM:\n\tsize mismatch for a", "size mismatch for a"),
        ("", "RuntimeError"),
    ],
)
def test_the_most_telling_line_is_kept(message: str, line: str) -> None:
    assert telling_line(RuntimeError(message)) == line
