"""A small random checkpoint with a context of 2 s, far shorter than the calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.untrained import write_untrained


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("e2e-model")
    write_untrained(folder, context=25, num_layers=1)
    return folder
