"""A corpus of beeps, spoken once a run."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from model.training import corpus, teacher
from model.training.crops import Pool
from tests.model.training.toy import FEATURES, say, toy_plan


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    corpus.render(folder / "corpus", toy_plan(), say, lambda _: None, workers=2)
    return folder


@pytest.fixture(scope="session")
def pool(toy_folder: Path) -> Pool:
    torch.set_num_threads(1)
    return Pool.of(teacher.clips(toy_folder, corpus.read(toy_folder / "corpus")), FEATURES)
