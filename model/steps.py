"""What crosses the engine's door: a place in the batch, a frame's answer, a step's report.

Refuses to know tensors and threads: plain frozen data that the server may keep.
"""

from __future__ import annotations

from dataclasses import dataclass

from audio.frames import Samples


class EngineFull(Exception):
    """Every slot is taken."""


class InboxFull(Exception):
    """A session has handed in more frames than may wait; its caller ignored the back-pressure."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One session's place: a slot of the batch, and the generation that tells its owners apart."""

    slot: int
    generation: int


@dataclass(frozen=True, slots=True)
class FrameResult:
    """The answer to one submitted frame: the n-th frame in gets the n-th result, exactly one each.

    pcm: float32 [1920] at 24 kHz, zeros while `frame` is below the model's lag; None with `error`.
    text: the agent's words that belong to this frame, a leading space where a word begins.
    token: the text token, -1 while below the lag.
    arrived: what the submitter gave, handed back.
    error: one line; the session cannot go on and its ticket is dead.
    """

    ticket: Ticket
    frame: int
    pcm: Samples | None
    text: str
    token: int
    arrived: float
    error: str | None = None


@dataclass(frozen=True, slots=True)
class StepReport:
    """One step of the whole batch. Times in seconds; `started` and `finished` on the monotonic clock.

    join_s is what taking in the `joined` sessions cost everyone else before the step.
    """

    results: tuple[FrameResult, ...]
    started: float
    finished: float
    encode_s: float
    lm_s: float
    decode_s: float
    host_s: float
    joined: int
    join_s: float
