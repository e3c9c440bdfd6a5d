"""Every setting of the server: one frozen dataclass, and the command line that is read off it.

Each default, range and help line lives once, here. Refuses to know what the settings do:
it opens no file and resolves no name.
"""

from __future__ import annotations

import argparse
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from audio.frames import FRAME_MS
from server.settings import (
    ConfigError,
    choice,
    path,
    path_or_none,
    seconds,
    setting,
    steps,
    text,
    texts,
    whole,
)

_HOUR_S = 3_600
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """What `duet serve` can be told. Times are in seconds.

    `api_keys` is no option: it comes from `api_keys_file` or the environment (see `server.keys`), so that
    no key shows in a list of processes. When it is empty, no key is asked for.

    Raises:
        ConfigError: a value is out of range; it names the field and the allowed values.
    """

    model: str = setting(
        "default",
        text(r"\S(.*\S)?", "must be 'default', a checkpoint folder or a hub name"),
        "model",
        "'default' for the model that comes with Duet, a checkpoint folder, or a hub name",
    )
    device: str = setting(
        "auto",
        text(r"auto|cpu|cuda(:\d{1,3})?", "must be auto, cpu, cuda or cuda:N"),
        "model",
        "auto, cpu, cuda or cuda:N",
    )
    dtype: str = setting(
        "auto", choice("auto", "bfloat16", "float16", "float32"), "model", "number format the model runs in"
    )
    runtime: str = setting(
        "auto",
        choice("auto", "compact", "reference"),
        "model",
        "compact steps only the rows that are ready; reference is moshi's own; auto is compact where it can"
        " run the model",
    )
    admit: Literal["measured", "capacity"] = setting(
        "measured",
        choice("measured", "capacity"),
        "model",
        "measured lets in no more sessions than steps timed at the start keep on time; capacity lets in all",
    )
    capacity: int = setting(8, whole(1, 1_000_000), "model", "sessions at the same time")

    host: str = setting(
        "localhost",
        text(r"[^\s/]+", "must be a host name or an address"),
        "network",
        "name or address to listen on; 0.0.0.0 is every IPv4 interface",
    )
    port: int = setting(8_998, whole(0, 65_535), "network", "port to listen on; 0 takes a free one")
    tls_cert: Path | None = setting(
        None, path_or_none(), "network", "certificate chain, PEM; turns TLS on together with --tls-key"
    )
    tls_key: Path | None = setting(
        None, path_or_none(), "network", "the certificate's private key, PEM, without a passphrase"
    )

    api_keys_file: Path | None = setting(
        None,
        path_or_none(),
        "access",
        "file of API keys, one a line; DUET_API_KEYS (comma separated) adds to it",
    )
    allowed_origins: tuple[str, ...] = setting(
        (),
        texts(r"https?://[^\s/?#@]+", "must be a web origin like https://example.org, without a path"),
        "access",
        "another web origin whose pages may connect, besides this server's own and those of this machine;"
        " a server on localhost behind a proxy must be told the outer one; may be given several times",
    )

    recordings: Path = setting(Path("recordings"), path(), "recordings", "folder that holds the recordings")
    record: Literal["store", "all", "never"] = setting(
        "store",
        choice("store", "all", "never"),
        "recordings",
        "which sessions are recorded: those that ask for it with store, all of them, or none",
    )
    recording_format: Literal["flac", "wav"] = setting(
        "flac", choice("flac", "wav"), "recordings", "container of a finished recording"
    )
    keep: Literal["off", "metadata", "full"] = setting(
        "full",
        choice("off", "metadata", "full"),
        "recordings",
        "what stays of a call: nothing; its times, counts and guardrail hits; or its words as well and, as"
        " --record says, its audio",
    )
    retention_days: int = setting(
        0,
        whole(0, 36_500),
        "recordings",
        "remove recordings and transcripts that are older than so many days; 0 keeps them for good",
    )
    redact: Path | None = setting(
        None,
        path_or_none(),
        "recordings",
        "TOML file of named patterns (RE2) that are blanked in transcripts, webhooks and logs",
    )

    sidecar: Literal["managed", "external", "off"] = setting(
        "managed",
        choice("managed", "external", "off"),
        "transcripts",
        "the process that transcribes calls: started and watched here, run by somebody else, or none",
    )
    sidecar_model: str = setting(
        "auto",
        text(r"\S(.*\S)?", "must be 'auto', the name of a Whisper model or a folder"),
        "transcripts",
        "Whisper model of the managed one: a name, a folder, or auto for what suits the device",
    )

    guardrails: Path | None = setting(
        None, path_or_none(), "guardrails", "TOML file of the rules that calls are held to"
    )
    holdback_ms: int = setting(
        0,
        steps(0, 2_000, FRAME_MS),
        "guardrails",
        "hold the agent's audio back so long, that a rule can stop a phrase before its first sound",
    )

    pace: Literal["realtime", "free"] = setting(
        "realtime",
        choice("realtime", "free"),
        "sessions",
        "realtime holds a session to the wall clock; free goes as fast as the audio comes and the model can",
    )
    silence_after_s: float = setting(
        10, seconds(0.01, _DAY_S), "sessions", "feed silence to a session that sent no audio for this long"
    )
    idle_timeout_s: float = setting(
        300, seconds(0.01, _DAY_S), "sessions", "close a session that sent nothing for this long"
    )
    max_session_s: float = setting(_DAY_S, seconds(0.01, 30 * _DAY_S), "sessions", "longest session")
    start_timeout_s: float = setting(
        10, seconds(0.01, _HOUR_S), "sessions", "longest wait of a new connection for its session.start"
    )
    drain_s: float = setting(
        30, seconds(0, _HOUR_S), "sessions", "at a stop, how long the running sessions may go on"
    )
    ping_interval_s: float = setting(
        10, seconds(0.01, _HOUR_S), "sessions", "time between the pings that find dead connections"
    )

    max_message_bytes: int = setting(1 << 20, whole(8_192, 1 << 26), "limits", "largest WebSocket message")
    backlog_s: float = setting(
        30, seconds(1, _HOUR_S), "limits", "most audio of a session that may wait to be accepted"
    )
    outbox_s: float = setting(
        10, seconds(1, _HOUR_S), "limits", "most audio that may wait for a client that reads slowly"
    )

    log_level: str = setting(
        "info", choice("debug", "info", "warning", "error"), "logs", "least serious message that is logged"
    )
    log_format: Literal["text", "json"] = setting(
        "text", choice("text", "json"), "logs", "lines of text, or one JSON object a line"
    )

    api_keys: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for item in _options():
            item.metadata["rule"].check(item.name, getattr(self, item.name))
        if self.tls_cert is not None and self.tls_key is None:
            raise ConfigError("tls_key", "is missing: a certificate needs its key")
        if self.tls_key is not None and self.tls_cert is None:
            raise ConfigError("tls_cert", "is missing: a key needs its certificate")

    @property
    def recorded(self) -> Literal["store", "all", "never"]:
        """Which sessions' audio is kept: `record`, as far as `keep` lets it."""
        return self.record if self.keep == "full" else "never"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Gives the parser one option for every setting, grouped, with the dataclass's own defaults."""
    groups: dict[str, Any] = {}
    for item in _options():
        title, rule = item.metadata["group"], item.metadata["rule"]
        group = groups.get(title) or groups.setdefault(title, parser.add_argument_group(title))
        shown = "" if item.default in (None, ()) else f" (default: {item.default})"
        group.add_argument(
            f"--{item.name.replace('_', '-')}",
            type=rule.read,
            action="append" if rule.repeats else "store",
            default=argparse.SUPPRESS,
            metavar="{" + ",".join(rule.values) + "}" if rule.values else None,
            help=item.metadata["help"] + shown,
        )


def from_options(options: argparse.Namespace, api_keys: tuple[str, ...] = ()) -> ServerConfig:
    """The settings that the command line gave, over the defaults.

    Raises:
        ConfigError: a value is out of range.
    """
    given = vars(options)
    values = {item.name: given[item.name] for item in _options() if item.name in given}
    lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    return ServerConfig(**values | lists, api_keys=api_keys)


def _options() -> list[Field[Any]]:
    return [item for item in fields(ServerConfig) if item.metadata]
