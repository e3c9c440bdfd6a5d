"""A small random checkpoint, written once a run, with a context far shorter than the calls."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from model.checkpoint import Loaded, load
from model.untrained import write_untrained

CONTEXT = 24


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    write_untrained(folder, context=CONTEXT, num_layers=1)
    return folder


@pytest.fixture
def loaded(small_folder: Path) -> Loaded:
    torch.set_num_threads(1)
    return load(str(small_folder), "cpu", torch.float32)
