"""What the query parameters of existing Moshi clients mean here."""

from __future__ import annotations

import pytest

from model.config import SEED_MAX
from server.errors import BadParameter
from server.moshi_query import MoshiOptions, read_query
from tests.server.echo_engine import INFO


def read(**query: str) -> MoshiOptions:
    return read_query(query, INFO, lambda bits: 2**bits - 1)


def test_temperatures_and_top_k_are_honoured() -> None:
    sampling = read(
        text_temperature="0.5", text_topk="10", audio_temperature="0", audio_topk="100", seed="7"
    ).sampling
    assert (sampling.text_temperature, sampling.text_top_k) == (0.5, 10)
    assert (sampling.audio_temperature, sampling.audio_top_k) == (0.0, 100)
    assert sampling.seed == 7


def test_without_parameters_the_models_own_sampling_is_used_with_a_drawn_seed() -> None:
    options = read()
    assert options.sampling.audio_top_k == INFO.sampling.audio_top_k
    assert options.sampling.seed == 2**53 - 1
    assert options.ignored == ()


def test_a_pair_of_seeds_makes_one_that_depends_on_both() -> None:
    assert read(text_seed="1", audio_seed="2").sampling.seed == (1 << 32) + 2
    assert read(audio_seed="2").sampling.seed == 2
    assert read(text_seed=str(2**64 - 1), audio_seed="0").sampling.seed == SEED_MAX - (2**32 - 1)


def test_one_seed_wins_over_a_pair_and_minus_one_means_draw_one() -> None:
    assert read(seed="5", text_seed="1", audio_seed="2").sampling.seed == 5
    assert read(seed="-1").sampling.seed == 2**53 - 1


def test_what_cannot_be_honoured_is_named_and_an_empty_value_asks_for_nothing() -> None:
    options = read(pad_mult="0", text_prompt="be kind", voice_prompt="", email="x@y.z")
    assert options.ignored == ("pad_mult", "text_prompt")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("text_temperature", "hot", "text_temperature must be a number from 0 to 10.0, not 'hot'"),
        ("text_temperature", "nan", "text_temperature must be a number from 0 to 10.0"),
        ("text_topk", "2.5", "text_topk must be an integer from 0 to 2147483647, not '2.5'"),
        ("audio_topk", "-3", "audio_topk must be an integer from 0 to"),
        ("audio_seed", "-3", "audio_seed must be an integer from 0, not '-3'"),
        ("text_seed", "x", "text_seed must be an integer from 0, not 'x'"),
        ("seed", "x", "seed must be an integer from 0 to 9223372036854775807, not 'x'"),
        ("seed", "-2", "seed must be an integer from 0 to"),
    ],
)
def test_a_bad_value_is_refused_by_the_name_the_client_used(name: str, value: str, words: str) -> None:
    with pytest.raises(BadParameter) as caught:
        read(**{name: value})
    assert str(caught.value).startswith(words)
    assert caught.value.body["error"]["param"] == name
