"""Bytes to samples and back."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.formats import (
    KINDS,
    PCM16_16K,
    PCM16_24K,
    PCMA_8K,
    PCMU_8K,
    AudioFormat,
    Decoder,
    encode,
    finite,
)

NAN, INF = float("nan"), float("inf")


def test_s16le_reads_little_endian_with_32768_as_one() -> None:
    samples = Decoder("audio/pcm").push(b"\x00\x40\x00\x80\xff\x7f\x01\x00")
    assert samples.dtype == np.float32
    assert samples.tolist() == [0.5, -1.0, 32_767 / 32_768, 1 / 32_768]


def test_s16le_bytes_come_back_as_they_were() -> None:
    data = np.arange(-32_768, 32_768).astype("<i2").tobytes()
    assert encode("audio/pcm", Decoder("audio/pcm").push(data)) == data


def test_what_is_louder_than_full_scale_is_clipped_and_not_wrapped() -> None:
    assert encode("audio/pcm", np.array([1.0, 7.5, -1.0, -7.5], np.float32)) == struct.pack(
        "<4h", 32_767, 32_767, -32_768, -32_768
    )


def test_companded_silence_and_full_scale_have_their_codes() -> None:
    samples = np.array([0, 1, -1], np.float32)
    assert encode("audio/pcmu", samples) == b"\xff\x80\x00"
    assert encode("audio/pcma", samples) == b"\xd5\xaa\x2a"
    assert Decoder("audio/pcmu").push(b"\x80").tolist() == [32_124 / 32_768]
    assert Decoder("audio/pcma").push(b"\xaa").tolist() == [32_256 / 32_768]


def test_f32le_comes_back_as_it_was_and_is_clipped_on_the_way_in() -> None:
    data = struct.pack("<4f", 0.25, -1e-9, 3.0, -1e30)
    samples = Decoder("audio/f32le").push(data)
    assert samples.tolist() == [0.25, np.float32(-1e-9), 1.0, -1.0]
    assert encode("audio/f32le", samples) == struct.pack("<4f", 0.25, -1e-9, 1.0, -1.0)


def test_a_half_sample_at_the_end_of_a_chunk_waits_for_its_other_half() -> None:
    decoder = Decoder("audio/pcm")
    assert decoder.push(b"\x00\x40\x00").tolist() == [0.5]
    assert decoder.pending_bytes == 1
    assert decoder.push(b"").tolist() == []
    assert decoder.push(b"\xc0").tolist() == [-0.5]
    assert decoder.pending_bytes == 0


@given(st.sampled_from(KINDS), st.binary(max_size=64), st.lists(st.integers(0, 64), max_size=6))
def test_chunking_does_not_change_what_is_decoded(kind: str, data: bytes, cuts: list[int]) -> None:
    whole, chunked = Decoder(kind), Decoder(kind)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    parts = [chunked.push(data[a:b]) for a, b in zip(edges[:-1], edges[1:], strict=True)]
    assert np.array_equal(np.concatenate(parts), whole.push(data))
    assert (chunked.pending_bytes, chunked.nonfinite) == (whole.pending_bytes, whole.nonfinite)


def test_nan_and_infinity_become_silence_and_are_counted() -> None:
    decoder = Decoder("audio/f32le")
    assert decoder.push(struct.pack("<4f", NAN, 0.5, INF, -INF)).tolist() == [0, 0.5, 0, 0]
    assert decoder.nonfinite == 3


@pytest.mark.parametrize("kind", KINDS)
def test_nan_and_infinity_are_encoded_as_silence(kind: str) -> None:
    bad = np.array([NAN, INF, -INF], np.float32)
    assert encode(kind, bad) == encode(kind, np.zeros(3, np.float32))


def test_finite_leaves_the_caller_s_samples_alone() -> None:
    samples = np.array([NAN, 1], np.float32)
    clean, bad = finite(samples)
    assert (clean.tolist(), bad) == ([0, 1], 1)
    assert np.isnan(samples[0])


def test_the_named_formats_are_those_of_the_live_wire() -> None:
    named = [PCM16_24K, PCM16_16K, PCMU_8K, PCMA_8K]
    assert [(form.kind, form.rate) for form in named] == [
        ("audio/pcm", 24_000),
        ("audio/pcm", 16_000),
        ("audio/pcmu", 8_000),
        ("audio/pcma", 8_000),
    ]


def test_an_unknown_kind_or_rate_is_refused_by_name_with_what_is_allowed() -> None:
    with pytest.raises(ValueError, match=r"kind must be one of audio/pcm, .*, not 'audio/opus'"):
        AudioFormat("audio/opus", 24_000)
    with pytest.raises(ValueError, match=r"rate must be one of 8000, .*48000 Hz, not 11025"):
        AudioFormat("audio/pcm", 11_025)
