"""What a session.start gets, and what it is told it does not get."""

from __future__ import annotations

from typing import Any

import pytest

from duet_client.wire import DuetOptions, SessionStart, WireError
from server.negotiation import Agreement, negotiate
from tests.server.calls import setup
from tests.server.echo_engine import INFO


def agree(record: Any = "store", **fields: Any) -> Agreement:
    return negotiate(SessionStart(**{"model": "default"} | fields), setup(record))


def codes(agreement: Agreement) -> list[str]:
    return [info.code for info in agreement.infos]


def test_the_model_may_be_asked_for_by_name_or_as_the_default() -> None:
    assert agree(model="echo") == agree(model="default")
    with pytest.raises(WireError, match="session.model must be default or echo"):
        agree(model="gpt-live-1")


def test_what_a_session_leaves_out_is_the_models_default_and_a_seed_is_drawn() -> None:
    sampling = agree(duet=DuetOptions(audio_top_k=5)).session.sampling
    assert sampling.audio_top_k == 5
    assert sampling.text_top_k == INFO.sampling.text_top_k
    assert sampling.seed == 2**53 - 1


def test_a_sampling_value_out_of_range_is_refused_with_its_path() -> None:
    with pytest.raises(WireError) as caught:
        agree(duet=DuetOptions(text_temperature=11.0), event_id="mine")
    assert caught.value.param == "session.duet.text_temperature"
    assert "from 0 to 10" in caught.value.message
    assert caught.value.client_event_id == "mine"


@pytest.mark.parametrize(
    ("record", "store", "recorded", "told"),
    [
        ("store", True, True, []),
        ("store", False, False, []),
        ("all", False, True, []),
        ("all", True, True, []),
        ("never", True, False, ["store_unsupported"]),
        ("never", False, False, []),
    ],
)
def test_a_session_is_recorded_if_the_server_may_and_somebody_wants_it(
    record: str, store: bool, recorded: bool, told: list[str]
) -> None:
    agreement = agree(record, store=store)
    assert agreement.session.recorded is recorded
    assert codes(agreement) == told


def test_whatever_is_not_honoured_is_told_and_stops_nobody() -> None:
    agreement = agree(instructions="be kind", voice="marin", unsupported=("session.delegation",))
    assert codes(agreement) == ["instructions_unsupported", "voice_unsupported", "fields_unsupported"]
    assert "session.delegation" in agreement.infos[2].message


def test_blank_instructions_ask_for_nothing() -> None:
    assert codes(agree(instructions="  ")) == []
