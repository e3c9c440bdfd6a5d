"""A codec as the server would run it, and what its codes and the sound itself say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model.config import ModelError
from model.training.coding import open_codec, said_by_codes, said_by_sound, through_streaming
from model.training.export import export
from model.training.shape import fresh_codec
from tests.model.training.toy import beep, toy_config, toy_plan


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    weights = {f"codec.{name}": value for name, value in fresh_codec(1, toy_config()).state_dict().items()}
    export(weights, toy_config(), tmp_path)
    return tmp_path


def test_sounds_coded_side_by_side_come_out_as_alone(folder: Path) -> None:
    """Two frames of silence before, the sound, three frames after, whatever the neighbour's length."""
    codec = open_codec(folder)
    short, long = sorted((beep(toy_plan()[n]) for n in (0, 2)), key=len)
    together = through_streaming(codec, [short, long])
    assert [len(made) for made in together] == [len(short) + 5 * 1920, len(long) + 5 * 1920]
    alone = through_streaming(codec, [short])[0]
    assert np.allclose(together[0][: len(short)], alone[: len(short)], atol=1e-4)


def test_codes_and_sound_say_one_vector_a_frame(folder: Path) -> None:
    sound = np.zeros(1920 * 4 + 1, np.float32)
    assert said_by_codes(open_codec(folder), sound).shape == (5, 32)
    assert said_by_sound(sound).shape == (5, 640)


def test_a_folder_without_a_codec_names_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="mimi.safetensors is missing"):
        open_codec(tmp_path)
