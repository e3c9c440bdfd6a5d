"""G.711 against its tables: all codes, all samples."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType

import numpy as np
import pytest

from audio import g711
from audio.g711 import Codes, Pcm16

EVERY_PCM16 = np.arange(-32_768, 32_768).astype(np.int16)
EVERY_CODE = np.arange(256).astype(np.uint8)


@pytest.fixture
def audioop() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return importlib.import_module("audioop")
        except ModuleNotFoundError:
            pytest.skip("this Python has no audioop to compare with")


def pcm(*values: int) -> Pcm16:
    return np.array(values, np.int16)


def codes(*values: int) -> Codes:
    return np.array(values, np.uint8)


def test_every_sample_and_code_of_mu_law_is_as_in_the_reference(audioop: ModuleType) -> None:
    assert g711.mulaw_encode(EVERY_PCM16).tobytes() == audioop.lin2ulaw(EVERY_PCM16.tobytes(), 2)
    assert g711.mulaw_decode(EVERY_CODE).tobytes() == audioop.ulaw2lin(EVERY_CODE.tobytes(), 2)


def test_every_sample_and_code_of_a_law_is_as_in_the_reference(audioop: ModuleType) -> None:
    assert g711.alaw_encode(EVERY_PCM16).tobytes() == audioop.lin2alaw(EVERY_PCM16.tobytes(), 2)
    assert g711.alaw_decode(EVERY_CODE).tobytes() == audioop.alaw2lin(EVERY_CODE.tobytes(), 2)


def test_mu_law_decodes_to_the_output_values_of_g711_table_2() -> None:
    # 14-bit output values 8031, 4191, 99, 2, 0 of the table, in the upper bits of 16
    got = g711.mulaw_decode(codes(0x80, 0x8F, 0xDF, 0xFE, 0xFF))
    assert got.tolist() == [8_031 * 4, 4_191 * 4, 99 * 4, 2 * 4, 0]
    assert g711.mulaw_decode(codes(0x00, 0x7E)).tolist() == [-8_031 * 4, -2 * 4]


def test_mu_law_changes_code_at_the_decision_values_of_g711_table_2() -> None:
    # 7903 and 4063, 95, 1: from there on the next code away from zero
    below = g711.mulaw_encode(pcm(7_903 * 4 - 1, 4_063 * 4 - 1, 95 * 4 - 1, 3))
    above = g711.mulaw_encode(pcm(7_903 * 4, 4_063 * 4, 95 * 4, 4))
    assert below.tolist() == [0x81, 0x90, 0xE0, 0xFF]
    assert above.tolist() == [0x80, 0x8F, 0xDF, 0xFE]


def test_a_law_decodes_to_the_output_values_of_g711_table_1() -> None:
    # 13-bit output values 4032, 2112, 66, 1; even bits are inverted on the line
    got = g711.alaw_decode(codes(0xFF ^ 0x55, 0xF0 ^ 0x55, 0xA0 ^ 0x55, 0x80 ^ 0x55))
    assert got.tolist() == [4_032 * 8, 2_112 * 8, 66 * 8, 1 * 8]
    assert g711.alaw_decode(codes(0x7F ^ 0x55, 0x55)).tolist() == [-4_032 * 8, -1 * 8]


def test_a_law_changes_code_at_the_decision_values_of_g711_table_1() -> None:
    below = g711.alaw_encode(pcm(3_968 * 8 - 1, 2_048 * 8 - 1, 64 * 8 - 1, -1))
    above = g711.alaw_encode(pcm(3_968 * 8, 2_048 * 8, 64 * 8, 0))
    assert below.tolist() == [0xFE ^ 0x55, 0xEF ^ 0x55, 0x9F ^ 0x55, 0x55]
    assert above.tolist() == [0xFF ^ 0x55, 0xF0 ^ 0x55, 0xA0 ^ 0x55, 0xD5]


def test_full_scale_stays_full_scale() -> None:
    loudest = pcm(32_767, -32_768)
    assert g711.mulaw_encode(loudest).tolist() == [0x80, 0x00]
    assert g711.alaw_encode(loudest).tolist() == [0xAA, 0x2A]


def test_every_code_survives_being_decoded_and_encoded_again() -> None:
    assert g711.alaw_encode(g711.alaw_decode(EVERY_CODE)).tolist() == EVERY_CODE.tolist()
    again = g711.mulaw_encode(g711.mulaw_decode(EVERY_CODE))
    assert again.tolist() == [0xFF if code == 0x7F else code for code in range(256)]  # two zeros
