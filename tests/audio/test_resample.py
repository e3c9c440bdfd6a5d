"""Resampling: content stays in its place, little is held, chunking changes nothing."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from audio.formats import RATES
from audio.frames import Samples
from audio.resample import Resampler

PAIRS = list(permutations(RATES, 2))


def sine(frequency: float, rate: int, seconds: float = 1.0) -> Samples:
    t = np.arange(round(rate * seconds)) / rate
    return np.sin(2 * np.pi * frequency * t).astype(np.float32)


def resampled(samples: Samples, rate_in: int, rate_out: int, chunk: int) -> Samples:
    resampler = Resampler(rate_in, rate_out)
    parts = [resampler.push(samples[i : i + chunk]) for i in range(0, len(samples), chunk)]
    return np.concatenate([*parts, resampler.flush()])


def level_db(samples: Samples) -> float:
    """Relative to a sine of full scale, away from the ends."""
    middle = samples[len(samples) // 4 : -len(samples) // 4].astype(np.float64)
    return float(10 * np.log10(2 * np.mean(middle**2) + 1e-20))


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
def test_a_tone_stays_in_its_place(rate_in: int, rate_out: int) -> None:
    got = resampled(sine(500, rate_in), rate_in, rate_out, chunk=rate_in // 50)
    ideal = sine(500, rate_out)
    middle = slice(rate_out // 4, -rate_out // 4)
    assert len(got) == rate_out
    assert np.abs(got - ideal)[middle].max() < 1e-4


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
def test_an_impulse_stays_within_a_sample_of_its_place(rate_in: int, rate_out: int) -> None:
    impulse = np.zeros(rate_in, np.float32)
    impulse[rate_in // 2] = 1
    got = resampled(impulse, rate_in, rate_out, chunk=777)
    assert abs(int(np.argmax(np.abs(got))) - rate_out // 2) <= 1


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
def test_what_both_rates_can_carry_passes_and_what_the_lower_cannot_does_not(
    rate_in: int, rate_out: int
) -> None:
    nyquist = min(rate_in, rate_out) / 2
    kept = resampled(sine(0.9 * nyquist, rate_in), rate_in, rate_out, chunk=rate_in)
    assert abs(level_db(kept)) < 0.1
    if rate_in > rate_out * 1.1:
        aliases = resampled(sine(1.05 * nyquist, rate_in), rate_in, rate_out, chunk=rate_in)
        assert level_db(aliases) < -90


@pytest.mark.parametrize(("rate_in", "rate_out"), [(8_000, 24_000), (16_000, 24_000), (24_000, 48_000)])
def test_upsampling_adds_no_images_above_the_old_band(rate_in: int, rate_out: int) -> None:
    got = resampled(sine(0.8 * rate_in / 2, rate_in), rate_in, rate_out, chunk=rate_in)
    spectrum = np.abs(np.fft.rfft(got[4_000:-4_000] * np.blackman(len(got) - 8_000)))
    frequency = np.fft.rfftfreq(len(got) - 8_000, 1 / rate_out)
    images = spectrum[frequency > rate_in / 2 + 50].max() / spectrum.max()
    assert 20 * np.log10(images) < -90


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
def test_chunking_does_not_change_a_single_bit(rate_in: int, rate_out: int) -> None:
    noise = np.random.default_rng(1).uniform(-1, 1, rate_in // 2).astype(np.float32)
    whole = resampled(noise, rate_in, rate_out, chunk=len(noise))
    for chunk in (37, rate_in // 100, rate_in * 80 // 1000):
        assert np.array_equal(resampled(noise, rate_in, rate_out, chunk), whole)


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
def test_ten_ms_are_held_back_after_every_chunk_of_20(rate_in: int, rate_out: int) -> None:
    resampler = Resampler(rate_in, rate_out)
    for _ in range(10):
        got = resampler.push(np.zeros(rate_in // 50, np.float32))
        assert resampler.held_s == pytest.approx(0.010)
    assert len(got) == rate_out // 50


@pytest.mark.parametrize(("rate_in", "rate_out"), PAIRS)
def test_less_than_thirty_ms_are_held_back_whatever_the_chunks(rate_in: int, rate_out: int) -> None:
    resampler = Resampler(rate_in, rate_out)
    for _ in range(200):
        resampler.push(np.zeros(37, np.float32))
        assert resampler.held_s < 0.030


@pytest.mark.parametrize("length", [0, 1, 7, 161, 480, 1_601])
def test_a_stream_of_any_length_comes_out_in_proportion(length: int) -> None:
    for rate_in, rate_out in PAIRS:
        got = resampled(np.ones(length, np.float32), rate_in, rate_out, chunk=160)
        assert abs(len(got) - length * rate_out / rate_in) <= 0.5


@pytest.mark.parametrize("rate", RATES)
def test_equal_rates_pass_everything_at_once(rate: int) -> None:
    resampler = Resampler(rate, rate)
    noise = np.random.default_rng(2).uniform(-1, 1, 123).astype(np.float32)
    assert np.array_equal(resampler.push(noise), noise)
    assert resampler.held_s == 0
    assert len(resampler.flush()) == 0


def test_after_a_flush_a_new_stream_starts_from_nothing() -> None:
    resampler = Resampler(8_000, 24_000)
    loud = np.ones(1_000, np.float32)
    first = np.concatenate([resampler.push(loud), resampler.flush()])
    second = np.concatenate([resampler.push(loud), resampler.flush()])
    assert np.array_equal(first, second)
    assert resampler.held_s == 0


def test_an_unknown_rate_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="rate_in must be one of 8000, .* not 22050"):
        Resampler(22_050, 24_000)
    with pytest.raises(ValueError, match="rate_out must be one of 8000, .* not 0"):
        Resampler(24_000, 0)
