"""A small random checkpoint, written once a run, with a context far shorter than the calls."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from model.checkpoint import Loaded, load
from model.untrained import write_untrained
from tests.model.rows import Build, build_compact, build_padded, build_reference

CONTEXT = 24
RUNTIMES: dict[str, Build] = {
    "reference": build_reference,
    "compact": build_compact,
    "padded": build_padded,
}


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    write_untrained(folder, context=CONTEXT, num_layers=1)
    return folder


@pytest.fixture
def loaded(small_folder: Path) -> Loaded:
    torch.set_num_threads(1)
    return load(str(small_folder), "cpu", torch.float32)


@pytest.fixture(params=RUNTIMES)
def build(request: pytest.FixtureRequest) -> Build:
    """Each runtime in turn."""
    return RUNTIMES[request.param]
