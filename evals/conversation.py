"""A conversation that is to be scored: two channels on one clock, and what is known about them.

Refuses to know where it was read from and how it is scored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evals.intervals import Interval, Intervals
from evals.words import Word

RATE = 24_000
"""Every conversation is scored at this rate; others are resampled and flagged."""

Samples = npt.NDArray[np.float32]
ChannelName = Literal["user", "agent"]
CHANNELS: tuple[ChannelName, ChannelName] = ("user", "agent")

ANNOTATION_TYPES = (
    "turn_end",
    "pause",
    "interruption",
    "backchannel",
    "talk_to_other",
    "background",
    "tic",
    "tool_call",
)
SIDE_SOUNDS = ("backchannel", "talk_to_other", "background", "tic")
"""User sounds that the agent is to go on over, and not to answer."""


class InputError(Exception):
    """An input that cannot be scored; the message is one line without the path."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What somebody knows to happen on the user's channel.

    expected: what the agent should do, free text. text: what is said there.
    """

    type: str
    span: Interval
    expected: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        if self.type not in ANNOTATION_TYPES:
            raise ValueError(
                f"annotation type must be one of {', '.join(ANNOTATION_TYPES)}, not {self.type!r}"
            )


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    """A response as a server's log has it: its latency for the turn that ended at `user_end_s`."""

    user_end_s: float
    latency_s: float


@dataclass(frozen=True)
class Conversation:
    """Float32 samples of both channels at 24 kHz, equally long.

    words: by channel; None where nobody transcribed it, () where there was nothing to hear.
    words_source: what made the words, with its version, "" where there are none.
    reference: by channel, the script that a transcript is compared to.
    activity: by channel, speech as a log has it (for the `log` layer).
    origin: where the recorder stood: model_out, server_out, client_in, ear or unknown.
    agent_text: what the model says it said, without times of words.
    """

    id: str
    audio: str
    user: Samples
    agent: Samples
    words: dict[ChannelName, tuple[Word, ...]] = field(default_factory=dict)
    words_source: str = ""
    annotations: tuple[Annotation, ...] = ()
    reference: dict[ChannelName, str] = field(default_factory=dict)
    activity: dict[ChannelName, Intervals] = field(default_factory=dict)
    log: tuple[LoggedTurn, ...] = ()
    origin: str = "unknown"
    user_channel: int = 0
    warnings: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()

    @property
    def duration_s(self) -> float:
        return len(self.user) / RATE

    def samples(self, channel: ChannelName) -> Samples:
        return self.user if channel == "user" else self.agent
