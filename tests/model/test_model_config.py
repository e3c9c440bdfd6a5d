"""Sampling says which field is wrong and what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from model.config import SEED_MAX, Sampling


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("text_temperature", -0.1, "a number from 0 to 10.0"),
        ("audio_temperature", float("nan"), "a number from 0 to 10.0"),
        ("audio_temperature", float("inf"), "a number from 0 to 10.0"),
        ("text_temperature", "hot", "a number from 0 to 10.0"),
        ("text_top_k", -1, f"an integer from 0 to {2**31 - 1}"),
        ("audio_top_k", 2.5, f"an integer from 0 to {2**31 - 1}"),
        ("audio_top_k", True, f"an integer from 0 to {2**31 - 1}"),
        ("seed", SEED_MAX + 1, f"an integer from 0 to {SEED_MAX}"),
        ("seed", 10**400, f"an integer from 0 to {SEED_MAX}"),  # beyond any float
        ("text_temperature", 10**400, "a number from 0 to 10.0"),
        ("seed", None, f"an integer from 0 to {SEED_MAX}"),
    ],
)
def test_a_value_out_of_range_names_its_field_and_the_range(field: str, value: Any, allowed: str) -> None:
    with pytest.raises(ValueError, match=f"^{field} must be {allowed}, not "):
        Sampling(**{field: value})


def test_the_ends_of_the_ranges_are_allowed() -> None:
    assert (
        Sampling(text_temperature=0, audio_temperature=10, text_top_k=0, seed=SEED_MAX).audio_temperature
        == 10
    )
