"""How the shipped clips are made from their words."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile

from evals.scenarios.make_speech import PEAK, RATE, main, trimmed


def test_a_clip_is_cut_to_its_sound_and_does_not_click() -> None:
    sound = np.full(RATE, 0.4, np.float32)
    silence = np.zeros(RATE // 2, np.float32)
    cut = trimmed(np.concatenate([silence, sound, silence]))
    assert len(cut) == RATE
    assert (cut[0], cut[-1]) == (0, 0)
    assert cut[RATE // 2] == np.float32(0.4)


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="needs the program espeak-ng")
def test_every_text_of_a_scenario_becomes_the_clip_beside_it(tmp_path: Path) -> None:
    says = '[[say]]\nclip = "clips/hello.flac"\ntext = "Hello there."\n[[say]]\nclip = "own.wav"\n'
    (tmp_path / "greeting.toml").write_text(says)
    main(tmp_path)
    samples, rate = soundfile.read(tmp_path / "clips" / "hello.flac")
    assert rate == 16_000
    assert 0.4 < len(samples) / rate < 2.0
    assert np.abs(samples).max() == pytest.approx(PEAK, abs=0.01)
    assert not (tmp_path / "own.wav").exists()
