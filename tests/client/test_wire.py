"""The wire against its golden messages, which every language reads, and against any message at all."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duet_client import wire
from model.config import Sampling

GOLDEN = [
    json.loads((Path(__file__).parent / "vectors" / name).read_text("utf-8"))
    for name in ("wire.json", "sideband.json")
]
KINDS = ("commands", "events", "refused_commands", "refused_events")
VECTORS: dict[str, list[dict[str, Any]]] = {
    kind: [case for golden in GOLDEN for case in golden[kind]] for kind in KINDS
}


def cases(kind: str, *, written: bool = False) -> pytest.MarkDecorator:
    chosen = [case for case in VECTORS[kind] if not (written and case.get("read_only"))]
    return pytest.mark.parametrize("case", chosen, ids=[case["name"] for case in chosen])


def meaning(message: Any) -> dict[str, Any]:
    """A message as the golden file writes it: bytes in hexadecimal, tuples as lists."""
    plain = json.dumps(asdict(message), default=lambda value: value.hex())
    found: dict[str, Any] = json.loads(plain)
    return found


def build(case: dict[str, Any]) -> Any:
    """The message a golden case describes, made without the parser."""
    given_fields = dict(case["fields"])
    if "audio" in given_fields:
        given_fields["audio"] = bytes.fromhex(given_fields["audio"])
    if "audio_format" in given_fields:
        given_fields["audio_format"] = wire.AudioFormat(**given_fields["audio_format"])
        given_fields["duet"] = wire.DuetOptions(**given_fields["duet"])
        given_fields["unsupported"] = tuple(given_fields["unsupported"])
    if "words" in given_fields:
        given_fields["words"] = tuple(wire.Word(**word) for word in given_fields["words"])
    return getattr(wire, case["message"])(**given_fields)


@cases("commands")
def test_a_command_means_what_its_golden_fields_say(case: dict[str, Any]) -> None:
    command = wire.parse_command(case["text"])
    assert type(command).__name__ == case["message"]
    assert meaning(command) == case["fields"]


@cases("events")
def test_an_event_means_what_its_golden_fields_say(case: dict[str, Any]) -> None:
    event = wire.parse_event(case["text"])
    assert type(event).__name__ == case["message"]
    assert meaning(event) == case["fields"]


@cases("commands", written=True)
def test_a_command_is_written_as_its_golden_text(case: dict[str, Any]) -> None:
    assert json.loads(wire.dump_command(build(case))) == json.loads(case["text"])


@cases("events", written=True)
def test_an_event_is_written_as_its_golden_text(case: dict[str, Any]) -> None:
    assert json.loads(wire.dump_event(build(case), case["event_id"])) == json.loads(case["text"])


@cases("refused_commands")
def test_a_bad_command_is_refused_by_code_and_field(case: dict[str, Any]) -> None:
    with pytest.raises(wire.WireError) as caught:
        wire.parse_command(case["text"])
    found = caught.value
    assert (found.code, found.param, found.client_event_id) == (
        case["code"],
        case["param"],
        case["client_event_id"],
    )
    assert case["param"] is None or case["param"] in found.message


@cases("refused_events")
def test_a_bad_event_is_refused_by_code_and_field(case: dict[str, Any]) -> None:
    with pytest.raises(wire.WireError) as caught:
        wire.parse_event(case["text"])
    assert (caught.value.code, caught.value.param) == (case["code"], case["param"])


@pytest.mark.parametrize(
    ("inner", "allowed"),
    [
        ('"audio":{"format":{"type":"audio/pcm","rate":44100}}', ["16000", "24000"]),
        ('"audio":{"format":{"type":"mp3","rate":24000}}', ["audio/pcm", "audio/pcmu", "audio/pcma"]),
        ('"store":"yes"', ["true", "false"]),
        ('"duet":{"top_k":1}', ["text_top_k", "audio_top_k", "seed"]),
        ('"audio":{"format":{"type":"mp3"}}', ["type must be one of audio/pcm, audio/pcmu, audio/pcma"]),
        ('"audio":{"format":{"rate":24000}}', ["type is missing", "audio/pcm, audio/pcmu, audio/pcma"]),
        ('"audio":{"format":{"type":"audio/pcm"}}', ["rate is missing", "16000 or 24000 for audio/pcm"]),
        ('"audio":{"format":{"type":"audio/pcma"}}', ["rate is missing", "8000 for audio/pcma"]),
    ],
)
def test_a_refusal_names_the_allowed_values(inner: str, allowed: list[str]) -> None:
    with pytest.raises(wire.WireError) as caught:
        wire.parse_command(f'{{"type":"session.start","session":{{"model":"default",{inner}}}}}')
    assert [word for word in allowed if word not in caught.value.message] == []


@pytest.mark.parametrize("name", [field.name for field in fields(wire.DuetOptions)])
def test_a_sampling_value_of_the_wrong_type_is_refused_as_the_model_refuses_it(name: str) -> None:
    wrong: Any = {name: "hot"}
    with pytest.raises(ValueError, match=name) as model:
        Sampling(**wrong)
    with pytest.raises(wire.WireError) as caught:
        wire.parse_command(json.dumps({"type": "session.start", "session": {"model": "m", "duet": wrong}}))
    assert caught.value.message == f"session.duet.{model.value}"


def test_a_property_has_the_time_that_a_loaded_machine_needs() -> None:
    assert settings().deadline is None


def test_a_refusal_does_not_repeat_a_long_value() -> None:
    with pytest.raises(wire.WireError) as caught:
        wire.parse_command(json.dumps({"type": "session.close", "event_id": ["x" * 100_000]}))
    assert len(caught.value.message) < 200


def test_nesting_without_end_is_refused_like_any_broken_json() -> None:
    with pytest.raises(wire.WireError) as caught:
        wire.parse_command("[" * 500_000)
    assert caught.value.code == "invalid_json"


def test_an_integer_beyond_any_float_is_refused_as_a_temperature() -> None:
    text = '{"type":"session.start","session":{"model":"m","duet":{"text_temperature":1' + "0" * 400 + "}}}"
    with pytest.raises(wire.WireError) as caught:
        wire.parse_command(text)
    assert caught.value.param == "session.duet.text_temperature"


def test_a_dotted_key_is_not_taken_for_the_field_it_spells() -> None:
    command = wire.parse_command('{"type":"session.start","session":{"model":"a"},"session.model":"b"}')
    assert isinstance(command, wire.SessionStart)
    assert (command.model, command.unsupported) == ("a", ("session.model",))


def test_a_refused_command_becomes_the_error_that_answers_it() -> None:
    with pytest.raises(wire.WireError) as caught:
        wire.parse_command('{"type":"session.begin","event_id":"c_1"}')
    event = wire.Error.of(caught.value)
    assert (event.code, event.param, event.client_event_id) == ("unknown_type", "type", "c_1")
    assert event.type == "invalid_request_error"


def test_each_table_speaks_of_fields_that_its_message_has() -> None:
    for table in (wire.COMMANDS, wire.EVENTS):
        for name, (message, table_fields) in table.items():
            written = {field.attr for field in table_fields}
            held = {field.name for field in fields(message)} - {"unsupported"}
            assert written == held, name


@given(st.binary(max_size=400), st.text(st.characters(codec="utf-8")))
def test_any_audio_and_any_text_come_back_as_they_went(audio: bytes, text: str) -> None:
    append = wire.InputAudioAppend(audio, text)
    assert wire.parse_command(wire.dump_command(append)) == append
    words = wire.OutputTranscriptDelta(text, 0, 80)
    assert wire.parse_event(wire.dump_event(words, "ev")) == words


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
SOME_KEYS = ["event_id", "session", "audio", "content", "delegation_id", "model", "duet", "format", "output"]


@given(
    st.sampled_from(sorted({*wire.COMMANDS, *wire.EVENTS})),
    st.dictionaries(
        st.sampled_from(SOME_KEYS), json_values | st.dictionaries(st.sampled_from(SOME_KEYS), json_values)
    ),
)
def test_any_json_is_either_a_message_or_a_wire_error(name: str, body: dict[str, Any]) -> None:
    text = json.dumps({**body, "type": name})
    with suppress(wire.WireError):
        assert json.loads(wire.dump_command(wire.parse_command(text)))["type"] == name
    with suppress(wire.WireError):
        assert json.loads(wire.dump_event(wire.parse_event(text), "ev"))["type"] == name


def test_a_refusal_does_not_repeat_a_long_name() -> None:
    with pytest.raises(wire.WireError) as refused:
        wire.parse_command(
            json.dumps({"type": "session.start", "session": {"model": "m", "duet": {"x" * 9_999: 1}}})
        )
    assert refused.value.param == "session.duet." + "x" * 80
    assert len(refused.value.message) < 300
