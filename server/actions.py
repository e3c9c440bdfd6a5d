"""What a session wants done, as plain data: the outputs of the pure core.

A session says the first group; a wire turns what is meant for the client into `Send` and passes the
rest on; a connection carries it out. Refuses to know how.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from audio.frame_flags import FrameFlags
from audio.frames import Samples
from model.config import Sampling
from server.endings import Ending

# -- for the connection ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Join:
    """Take a place in the model; `recording` is the new recording's metadata, None for no recording."""

    sampling: Sampling
    recording: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Submit:
    """Hand this frame to the model. waiting: frames of the session that are not answered yet."""

    frame: Samples
    arrived: float
    waiting: int


@dataclass(frozen=True, slots=True)
class Record:
    """One frame of both channels, in order, without gaps."""

    user: Samples
    agent: Samples
    flags: FrameFlags


@dataclass(frozen=True, slots=True)
class Padded:
    """So many frames were filled up or made of silence."""

    frames: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """So many frames of the user's were not heard."""

    frames: int


@dataclass(frozen=True, slots=True)
class PauseReading:
    """Take nothing more from the client: it is ahead."""


@dataclass(frozen=True, slots=True)
class ResumeReading:
    pass


@dataclass(frozen=True, slots=True)
class Finish:
    """Give the place back and finish the recording, then call `stored`."""

    ending: Ending
    summary: dict[str, Any]


@dataclass(frozen=True, slots=True)
class End:
    """Send what waits, then close the connection. Nothing follows."""

    ending: Ending


@dataclass(frozen=True, slots=True)
class Send:
    """One WebSocket message. frames: answered frames it ends; arrived: of the input it answers."""

    data: str | bytes
    frames: int = 0
    arrived: float | None = None


# -- for the client, in no wire's words -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AgentFrame:
    """The agent's audio of frame `frame`: float32 [1920] at 24 kHz."""

    frame: int
    pcm: Samples
    arrived: float


@dataclass(frozen=True, slots=True)
class AgentText:
    frame: int
    text: str


@dataclass(frozen=True, slots=True)
class AgentDone:
    """No audio follows: whatever a resampler or an encoder still holds goes out now."""


@dataclass(frozen=True, slots=True)
class Usage:
    """seconds: answered so far. ratio: how full the model's context is, 0 to 1."""

    seconds: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Notice:
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Ahead:
    """Audio comes faster than it is taken in; said once, when reading is first held back for it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the session cannot go on. type: whose fault, in the Live wire's words."""

    type: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The last word. seconds: answered in all."""

    ending: Ending
    seconds: float


Said = AgentFrame | AgentText | AgentDone | Usage | Notice | Ahead | Problem | Closed
Deed = Join | Submit | Record | Padded | Dropped | PauseReading | ResumeReading | Finish | End | Send
