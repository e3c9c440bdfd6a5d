"""Kokoro's English styles: read from their package, and only those."""

from __future__ import annotations

import io
import tarfile

import numpy as np
import pytest

from model.config import ModelError
from model.training.styles import STYLE, styles_in


def packed(names: list[str]) -> bytes:
    """A package with a style of two lengths under each name: zeros, then ones."""
    content = np.repeat(np.arange(2, dtype="<f4"), STYLE).tobytes()
    package = io.BytesIO()
    with tarfile.open(fileobj=package, mode="w:gz") as files:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            files.addfile(member, io.BytesIO(content))
    return package.getvalue()


def test_american_and_british_styles_are_taken_and_no_others() -> None:
    names = ["package/voices/af_sky.bin", "package/voices/bm_lewis.bin", "package/voices/zf_xiaoyi.bin"]
    styles = styles_in(packed([*names, "package/README.md"]))
    assert set(styles) == {"af_sky", "bm_lewis"}
    assert styles["af_sky"].shape == (2, 1, STYLE)
    assert styles["af_sky"][:, 0, 0].tolist() == [0.0, 1.0]


def test_a_package_without_english_styles_is_refused() -> None:
    with pytest.raises(ModelError, match="brings no English voices"):
        styles_in(packed(["package/voices/jf_alpha.bin"]))
