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


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same context with two codebooks a side: a third of the work a frame, for hours of call, and for
    calls of which only the life matters."""
    folder = tmp_path_factory.mktemp("e2e-tiny")
    write_untrained(folder, context=25, num_layers=1, n_q=4, dep_q=2, delays=[0, 0, 1, 0, 1])
    return folder
