"""The first layer: energy on tones, silero on speech with known cut points."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from evals.activity import detect, energy, levels, refined, silero_speech
from evals.conversation import RATE, Conversation, InputError, Samples
from evals.intervals import Interval
from evals.thresholds import Thresholds
from tests.evals import golden

CLIPS = Path(__file__).parents[2] / "evals" / "scenarios"
THRESHOLDS = Thresholds()


def tone_at(dbfs: float, duration_s: float = 1.0) -> Samples:
    """A second of square wave, whose level is its amplitude, in the middle of three."""
    wave = np.zeros(round(3 * RATE), np.float32)
    wave[RATE : RATE + round(duration_s * RATE)] = 10 ** (dbfs / 20)
    return wave


def found(samples: Samples) -> list[tuple[float, float]]:
    spans = energy(levels(samples, THRESHOLDS), len(samples) / RATE, THRESHOLDS)
    return [(i.start, i.end) for i in spans]


@pytest.mark.parametrize(("dbfs", "heard"), [(-44.9, True), (-45.1, False)])
def test_in_silence_the_threshold_is_45_db_under_full_scale(dbfs: float, heard: bool) -> None:
    assert found(tone_at(dbfs)) == ([(1.0, 2.0)] if heard else [])


def test_in_noise_the_threshold_is_ten_decibels_above_it() -> None:
    noise = np.full(3 * RATE, np.float32(10 ** (-40 / 20)))
    for dbfs, heard in ((-29.9, True), (-30.5, False)):
        samples = np.where(tone_at(dbfs) > 0, tone_at(dbfs), noise)
        assert bool(found(samples)) is heard


def test_speech_all_through_is_no_noise() -> None:
    samples = golden.channel(((0.0, 10.0),), 220, 10.0)
    assert found(samples) == [(0.0, 10.0)]


@pytest.mark.parametrize(("length_s", "kept"), [(0.04, False), (0.05, True)])
def test_what_is_shorter_than_50_ms_is_dropped(length_s: float, kept: bool) -> None:
    assert bool(found(tone_at(-20, length_s))) is kept


def test_a_last_hop_that_is_cut_short_is_heard() -> None:
    samples = tone_at(-20)[: RATE + 3000]
    assert found(samples) == [(1.0, 1.125)]


def test_an_edge_moves_to_the_nearest_one_within_reach_only() -> None:
    coarse = (Interval(1.0, 2.0), Interval(5.0, 6.0))
    fine = (Interval(1.09, 2.0), Interval(4.8, 6.05))
    assert refined(coarse, fine, THRESHOLDS) == (Interval(1.09, 2.0), Interval(5.0, 6.05))


def test_a_layer_that_needs_what_is_not_there_says_so() -> None:
    talk = Conversation("a", "a.wav", np.zeros(100, np.float32), np.zeros(100, np.float32))
    with pytest.raises(InputError, match="needs the user's words"):
        detect(talk, "user", "words", THRESHOLDS)
    with pytest.raises(InputError, match="in a log"):
        detect(talk, "user", "log", THRESHOLDS)


def spoken(gain: float = 1.0) -> tuple[Samples, list[float]]:
    """Shipped clips, cut hard at their first and last sound, over a -80 dBFS floor; and where they are."""
    clips = sorted(CLIPS.glob("*/clips/*.flac"))[:4]
    rng = np.random.default_rng(0)
    samples = rng.standard_normal(30 * RATE).astype(np.float32) * np.float32(golden.NOISE)
    edges, at = [], RATE
    for path in clips:
        clip = soundfile.read(path, dtype="float32")[0]
        loud = np.flatnonzero(np.abs(clip) > 0.05)
        clip = clip[loud[0] : loud[-1] + 1][: 5 * RATE]
        clip = clip[: np.flatnonzero(np.abs(clip) > 0.05)[-1] + 1]
        samples[at : at + len(clip)] += clip * np.float32(gain)
        edges += [at / RATE, (at + len(clip)) / RATE]
        at += len(clip) + 2 * RATE
    return samples[: at + RATE], edges


def outer_edges(spans: tuple[Interval, ...], edges: list[float]) -> list[float]:
    """The first start and last end near each utterance."""
    near = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        inside = [i for i in spans if i.end > start - 0.5 and i.start < end + 0.5]
        near += [inside[0].start, inside[-1].end]
    return near


def test_energy_finds_speech_to_50_ms() -> None:
    samples, edges = spoken()
    spans = energy(levels(samples, THRESHOLDS), len(samples) / RATE, THRESHOLDS)
    assert outer_edges(spans, edges) == pytest.approx(edges, abs=0.050)


def test_silero_finds_nearly_all_speech_to_100_ms() -> None:
    pytest.importorskip("faster_whisper")
    samples, edges = spoken()
    talk = Conversation("a", "a.wav", samples, samples)
    for spans in (silero_speech(samples, THRESHOLDS), detect(talk, "user", "silero-refined", THRESHOLDS)[0]):
        found = outer_edges(spans, edges)
        errors = sorted(abs(a - b) for a, b in zip(found, edges, strict=True))
        assert errors[-2] <= 0.100
        assert errors[-1] <= 0.150


def test_a_refined_edge_is_nearly_always_the_energys() -> None:
    pytest.importorskip("faster_whisper")
    samples, edges = spoken()
    talk = Conversation("a", "a.wav", samples, samples)
    fine = outer_edges(detect(talk, "user", "energy", THRESHOLDS)[0], edges)
    found = outer_edges(detect(talk, "user", "silero-refined", THRESHOLDS)[0], edges)
    assert sum(a == b for a, b in zip(found, fine, strict=True)) >= 7


def test_silero_does_not_mind_twenty_decibels_less() -> None:
    pytest.importorskip("faster_whisper")
    (loud, edges), (quiet, _) = spoken(), spoken(0.1)
    one = outer_edges(silero_speech(loud, THRESHOLDS), edges)
    assert outer_edges(silero_speech(quiet, THRESHOLDS), edges) == pytest.approx(one, abs=0.100)


def test_silero_in_pieces_is_silero_in_one() -> None:
    silero = pytest.importorskip("evals.silero")
    pytest.importorskip("faster_whisper")
    samples, _ = spoken()
    one = silero.probabilities(samples)
    piece, silero._PIECE = silero._PIECE, 7001
    try:
        assert np.abs(silero.probabilities(samples) - one).max() < 1e-3
    finally:
        silero._PIECE = piece
