"""Every setting of the sidecar: one frozen dataclass, and the command line that is read off it.

The key is no option, so that it shows in no list of processes. Refuses to know what the settings do.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from duet_client.address import DEFAULT_SERVER, KEY_VARIABLE
from transcribe_sidecar.errors import SidecarError

_DEVICES = ("auto", "cpu", "cuda")
_THREADS_MOST = 256


@dataclass(frozen=True, slots=True)
class Settings:
    """What the sidecar can be told. key: for the server; empty where it asks for none.

    Raises:
        SidecarError: a value is out of range; it names the option and the allowed values.
    """

    server: str = DEFAULT_SERVER
    model: str = "auto"
    device: str = "auto"
    language: str = "en"
    threads: int = 1
    key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.device not in _DEVICES:
            raise SidecarError(f"--device must be one of {', '.join(_DEVICES)}, not {self.device!r}")
        if not re.fullmatch(r"[a-z]{2,3}", self.language):
            raise SidecarError(f"--language must be a code like en, not {self.language!r}")
        if not 1 <= self.threads <= _THREADS_MOST:
            raise SidecarError(
                f"--threads must be a whole number from 1 to {_THREADS_MOST}, not {self.threads}"
            )


def parse(argv: Sequence[str] | None) -> Settings:
    """Raises SidecarError for a value that is not allowed and a key file that cannot be read."""
    default = Settings()
    parser = argparse.ArgumentParser(
        prog="transcribe_sidecar",
        description="Listens to every call of a Duet server and gives it both channels in words, by Whisper.",
        epilog=f"The server's key, if it asks for one, is read from {KEY_VARIABLE} or from --api-key-file.",
    )
    parser.add_argument("--server", default=default.server, help="default: %(default)s")
    parser.add_argument(
        "--model",
        default=default.model,
        metavar="NAME_OR_FOLDER",
        help="a faster-whisper model that is on this machine: a name like tiny.en, or a folder; auto is"
        " large-v3-turbo on a GPU and tiny.en on a CPU (default: %(default)s)",
    )
    parser.add_argument("--device", default=default.device, help="auto, cpu or cuda (default: %(default)s)")
    parser.add_argument(
        "--language", default=default.language, help="what is spoken, as a code (default: %(default)s)"
    )
    parser.add_argument(
        "--threads", type=int, default=default.threads, help="of the model on a CPU (default: %(default)s)"
    )
    parser.add_argument("--api-key-file", type=Path, help="file whose first line is the server's key")
    found = parser.parse_args(argv)
    key = os.environ.get(KEY_VARIABLE, "") if found.api_key_file is None else _key(found.api_key_file)
    return Settings(found.server, found.model, found.device, found.language, found.threads, key)


def _key(file: Path) -> str:
    try:
        lines = file.read_text("utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise SidecarError(f"--api-key-file {file} cannot be read: {error}") from None
    if not lines:
        raise SidecarError(f"--api-key-file {file} is empty")
    return lines[0]
