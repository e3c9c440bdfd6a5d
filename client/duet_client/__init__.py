"""Talk to a Duet server: `connect` opens a call, `observe` and `attach` listen to those of others, `wire` is
the vocabulary. See README.md.

Depends on websockets and numpy alone, and on nothing else of this project.
"""

from duet_client.errors import (
    ConnectError,
    DuetError,
    Forbidden,
    NoSession,
    ServerFull,
    SessionLost,
    StartRefused,
    Unauthorized,
    Unreachable,
    WireError,
)
from duet_client.observer import Calls, Frame, Observer, attach, observe
from duet_client.pcm import to_bytes, to_samples
from duet_client.session import Session, connect
from duet_client.wire import AudioFormat, DuetOptions, Word

__version__ = "0.1.0"

__all__ = [
    "AudioFormat",
    "Calls",
    "ConnectError",
    "DuetError",
    "DuetOptions",
    "Forbidden",
    "Frame",
    "NoSession",
    "Observer",
    "ServerFull",
    "Session",
    "SessionLost",
    "StartRefused",
    "Unauthorized",
    "Unreachable",
    "WireError",
    "Word",
    "attach",
    "connect",
    "observe",
    "to_bytes",
    "to_samples",
]
