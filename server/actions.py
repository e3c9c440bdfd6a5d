"""What a session wants done, as plain data: the outputs of the pure core.

A session says the first group; a wire turns what is meant for the client into `Send` and passes the
rest on; a connection carries it out. Refuses to know how.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from audio.frame_flags import FrameFlags
from audio.frames import Samples
from duet_client.wire import Channel, Word
from model.config import Sampling
from server.endings import Ending

# -- for the connection ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Join:
    """Take a place in the model.

    session: the resolved session, in the Live wire's words. metadata: of what is kept of the call.
    recorded: whether its audio is kept.
    """

    sampling: Sampling
    session: dict[str, Any]
    metadata: dict[str, Any]
    recorded: bool


@dataclass(frozen=True, slots=True)
class Submit:
    """Hand this frame to the model.

    waiting: frames of the session that are not answered yet. fed: it is silence that nobody sent.
    """

    frame: Samples
    arrived: float
    waiting: int
    fed: bool


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


@dataclass(frozen=True, slots=True)
class Hold:
    """What waits to be sent is a welcome: it leaves so much later, unless something follows it before."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Publish:
    """Tell the observers, if there are any."""

    said: Said


@dataclass(frozen=True, slots=True)
class Webhook:
    """Post `body` as JSON to `url`, whenever that can be done."""

    rule: str
    url: str
    body: dict[str, Any]


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
class Missed:
    """Where the model did not hear what the user sent, from frame `first` on.

    filled: no audio came, and silence was made for `frames` frames. dropped: so many more frames had
    come by then and were not heard.
    """

    kind: Literal["filled", "dropped"]
    first: int
    frames: int


@dataclass(frozen=True, slots=True)
class MuteSet:
    """The model hears silence from here on (on), or the user again."""

    on: bool


@dataclass(frozen=True, slots=True)
class Words:
    """Words of one channel that a transcriber heard; before `through_ms` no more will come."""

    channel: Channel
    words: tuple[Word, ...]
    through_ms: int


@dataclass(frozen=True, slots=True)
class Guarded:
    """A guardrail found something in what was said up to frame `frame`. action: what is done about it."""

    rule: str
    listen: str
    action: str
    frame: int
    text: str


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


Said = (
    AgentFrame
    | AgentText
    | AgentDone
    | Usage
    | Notice
    | Ahead
    | Missed
    | MuteSet
    | Words
    | Guarded
    | Problem
    | Closed
)
Deed = (
    Join
    | Submit
    | Record
    | Padded
    | Dropped
    | PauseReading
    | ResumeReading
    | Finish
    | End
    | Send
    | Hold
    | Publish
    | Webhook
)
