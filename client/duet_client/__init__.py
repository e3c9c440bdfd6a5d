"""Talk to a Duet server: `connect` opens a call, `wire` is the vocabulary. See README.md.

Depends on websockets and numpy alone, and on nothing else of this project.
"""

from duet_client.errors import (
    ConnectError,
    DuetError,
    Forbidden,
    ServerFull,
    SessionLost,
    StartRefused,
    Unauthorized,
    Unreachable,
    WireError,
)
from duet_client.pcm import to_bytes, to_samples
from duet_client.session import Session, connect
from duet_client.wire import AudioFormat, DuetOptions

__version__ = "0.1.0"

__all__ = [
    "AudioFormat",
    "ConnectError",
    "DuetError",
    "DuetOptions",
    "Forbidden",
    "ServerFull",
    "Session",
    "SessionLost",
    "StartRefused",
    "Unauthorized",
    "Unreachable",
    "WireError",
    "connect",
    "to_bytes",
    "to_samples",
]
