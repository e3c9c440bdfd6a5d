"""The page's pure modules under node, each of its tests as node names it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="node is not installed: the page's modules were not tested")
@pytest.mark.parametrize("file", sorted(HERE.glob("*.test.js")), ids=lambda file: file.name)
def test_the_modules_keep_their_laws(file: Path) -> None:
    assert NODE is not None
    result = subprocess.run(
        [NODE, "--expose-gc", "--test", str(file)], check=False, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stdout + result.stderr
