"""The settings: checked where they are made, and the command line is read off them."""

from __future__ import annotations

import argparse
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import pytest

from server.command_line import command_parser
from server.config import ServerConfig, add_options, from_options
from server.settings import ConfigError


def parse(*arguments: str) -> ServerConfig:
    return from_options(command_parser().parse_args(["serve", *arguments]))


def test_a_command_line_without_options_gives_the_defaults_of_the_dataclass() -> None:
    assert parse() == ServerConfig()


def test_the_defaults_are_the_documented_ones() -> None:
    config = ServerConfig()
    assert (config.host, config.port, config.capacity) == ("localhost", 8998, 8)
    assert (config.pace, config.record, config.recording_format) == ("realtime", "store", "flac")
    assert config.recordings == Path("recordings")
    assert config.max_message_bytes == 1_048_576
    assert (config.keep, config.retention_days, config.redact) == ("full", 0, None)
    assert (config.sidecar, config.sidecar_model) == ("managed", "auto")
    assert (config.guardrails, config.holdback_ms) == (None, 0)


def test_every_setting_but_the_keys_is_an_option() -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)
    options = {action.dest for action in parser._actions} - {"help"}
    assert options == {item.name for item in fields(ServerConfig)} - {"api_keys"}


def test_no_key_can_be_given_on_the_command_line_where_every_process_could_read_it() -> None:
    with pytest.raises(SystemExit):
        parse("--api-keys", "secret")


def test_options_reach_their_settings_with_their_own_types() -> None:
    config = parse("--port", "0", "--drain-s", "0.5", "--recordings", "/tmp/calls", "--pace", "free")
    assert (config.port, config.drain_s, config.recordings, config.pace) == (
        0,
        0.5,
        Path("/tmp/calls"),
        "free",
    )


def test_an_option_that_may_repeat_collects_its_values() -> None:
    config = parse("--allowed-origins", "https://a.example", "--allowed-origins", "http://b.example:81")
    assert config.allowed_origins == ("https://a.example", "http://b.example:81")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("port", 65_536, "a whole number from 0 to 65535"),
        ("port", True, "a whole number from 0 to 65535"),
        ("capacity", 0, "a whole number from 1 to 1000000"),
        ("capacity", 2.0, "a whole number"),
        ("drain_s", -1, "a number of seconds from 0 to 3600"),
        ("idle_timeout_s", float("nan"), "a number of seconds"),
        ("max_session_s", float("inf"), "from 0.01 to 2592000"),
        ("pace", "fast", "realtime, free"),
        ("record", "some", "store, all, never"),
        ("recording_format", "mp3", "flac, wav"),
        ("log_level", "INFO", "debug, info, warning, error"),
        ("device", "gpu", "auto, cpu, cuda or cuda:N"),
        ("dtype", "int8", "auto, bfloat16, float16, float32"),
        ("model", "", "'default', a checkpoint folder or a hub name"),
        ("host", "http://here", "a host name or an address"),
        ("allowed_origins", ("example.org",), "https://example.org"),
        ("allowed_origins", ("https://example.org/page",), "without a path"),
        ("recordings", "recordings", "a path"),
        ("keep", "some", "off, metadata, full"),
        ("retention_days", -1, "a whole number from 0 to 36500"),
        ("retention_days", 0.5, "a whole number"),
        ("redact", "redact.toml", "a path"),
        ("sidecar", "on", "managed, external, off"),
        ("sidecar_model", " ", "the name of a Whisper model or a folder"),
        ("guardrails", "rules.toml", "a path"),
        ("holdback_ms", 100, "a multiple of 80 from 0 to 2000"),
        ("holdback_ms", 2_080, "a multiple of 80 from 0 to 2000"),
        ("holdback_ms", -80, "a multiple of 80"),
        ("holdback_ms", 80.0, "a multiple of 80"),
    ],
)
def test_a_bad_value_is_refused_by_name_with_what_is_allowed(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ServerConfig(**{name: value})
    assert refused.value.field == name
    assert allowed in str(refused.value)


def test_on_the_command_line_a_bad_value_is_named_by_its_option() -> None:
    with pytest.raises(ConfigError) as refused:
        parse("--idle-timeout-s", "soon")
    assert refused.value.on_command_line == (
        "--idle-timeout-s must be a number of seconds from 0.01 to 86400, not 'soon'"
    )


@pytest.mark.parametrize(("given", "missing"), [("tls_cert", "tls_key"), ("tls_key", "tls_cert")])
def test_a_certificate_and_its_key_come_together(given: str, missing: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ServerConfig(**{given: Path("a.pem")})  # type: ignore[arg-type]
    assert refused.value.field == missing


def test_settings_do_not_change_once_made() -> None:
    with pytest.raises(FrozenInstanceError):
        ServerConfig().port = 1  # type: ignore[misc]


def test_printing_the_settings_shows_no_key() -> None:
    assert "hush" not in repr(ServerConfig(api_keys=("hush",)))


def test_only_where_all_is_kept_is_audio_kept() -> None:
    assert ServerConfig(record="all").recorded == "all"
    assert {ServerConfig(record="all", keep=keep).recorded for keep in ("off", "metadata")} == {"never"}
