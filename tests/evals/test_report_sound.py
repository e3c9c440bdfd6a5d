"""Sound inside the page: nothing is moved, swapped or different the second time."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from evals.report.clips import encode_clip
from evals.report.sound import PEAKS_PER_S, NoSound, read_sound

RATE = 24_000


def burst(start_s: float, end_s: float, duration_s: float, rate: int = RATE) -> npt.NDArray[np.float32]:
    """A buzz of many harmonics, whose edges a codec keeps."""
    times = np.arange(round(duration_s * rate)) / rate
    buzz = sum(np.sin(2 * np.pi * 150 * k * times) / k for k in range(1, 20))
    return np.where((times >= start_s) & (times < end_s), 0.1 * buzz, 0.0).astype(np.float32)


def stereo(user: npt.NDArray[np.float32], agent: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.stack([user, agent], axis=1)


def edges_s(samples: npt.NDArray[np.float64], rate: int) -> tuple[float, float]:
    loud = np.flatnonzero(np.abs(samples) > 0.03)
    return float(loud[0]) / rate, float(loud[-1]) / rate


def heard(opus: bytes) -> tuple[npt.NDArray[np.float64], int]:
    samples, rate = soundfile.read(io.BytesIO(opus))
    return samples, rate


def test_what_is_said_at_a_time_is_heard_at_that_time() -> None:
    samples, rate = heard(encode_clip([stereo(burst(1, 2, 4), burst(2.5, 3, 4))], RATE))
    assert edges_s(samples[:, 0], rate) == pytest.approx((1.0, 2.0), abs=0.005)
    assert edges_s(samples[:, 1], rate) == pytest.approx((2.5, 3.0), abs=0.005)


def test_the_same_sound_is_the_same_bytes_however_it_is_cut() -> None:
    samples = stereo(burst(1, 2, 3), burst(0.2, 0.5, 3))
    whole = encode_clip([samples], RATE)
    assert encode_clip([samples[:10_000], samples[10_000:]], RATE) == whole
    assert whole == encode_clip([samples], RATE)


def test_the_user_is_on_the_left_also_where_the_file_has_the_agent_first(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "call.wav", stereo(burst(2, 3, 4), burst(0.5, 1, 4)), RATE)
    samples, rate = heard(read_sound(str(tmp_path / "call.wav"), 1, ()).opus)
    assert edges_s(samples[:, 0], rate) == pytest.approx((0.5, 1.0), abs=0.005)


def test_two_mono_files_of_unequal_length_are_one_sound_as_long_as_the_longer(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "input.wav", burst(1, 2, 3), RATE)
    soundfile.write(tmp_path / "output.wav", burst(13, 14, 15), RATE)
    samples, rate = heard(read_sound("input.wav|output.wav", 0, (tmp_path,)).opus)
    assert len(samples) / rate == pytest.approx(15.0, abs=0.02)
    assert edges_s(samples[:, 0], rate) == pytest.approx((1.0, 2.0), abs=0.005)
    assert edges_s(samples[:, 1], rate) == pytest.approx((13.0, 14.0), abs=0.005)


def test_a_rate_that_opus_does_not_have_is_converted_and_nothing_moves(tmp_path: Path) -> None:
    rate = 44_100
    soundfile.write(tmp_path / "cd.wav", stereo(burst(11, 12, 13, rate), burst(1, 2, 13, rate)), rate)
    samples, heard_rate = heard(read_sound("cd.wav", 0, (tmp_path,)).opus)
    assert edges_s(samples[:, 0], heard_rate) == pytest.approx((11.0, 12.0), abs=0.005)
    assert edges_s(samples[:, 1], heard_rate) == pytest.approx((1.0, 2.0), abs=0.005)


def test_peaks_are_loud_where_the_channel_is(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "call.wav", stereo(burst(1, 2, 4), np.zeros(4 * RATE, np.float32)), RATE)
    user, agent = read_sound("call.wav", 0, (tmp_path,)).peaks
    assert len(user) == 4 * PEAKS_PER_S
    assert [step / PEAKS_PER_S for step, peak in enumerate(user) if peak > 10] == [
        step / PEAKS_PER_S for step in range(PEAKS_PER_S, 2 * PEAKS_PER_S)
    ]
    assert set(agent) == {0}


def test_sound_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(NoSound, match=r"gone\.wav: the file is not there any more"):
        read_sound("gone.wav", 0, (tmp_path,))


def test_a_file_that_is_no_sound_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "text.wav").write_text("not a sound")
    with pytest.raises(NoSound, match=r"text\.wav"):
        read_sound("text.wav", 0, (tmp_path,))
