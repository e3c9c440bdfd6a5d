"""What tests of the pure session need: limits, frames, answers, and a model that answers by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from audio.frames import FRAME_SAMPLES, Samples
from model.engine import FrameResult, Ticket
from server.config import ServerConfig
from server.limits import Limits
from server.session import Actions, Session, Tail

LIMITS = Limits.of(ServerConfig())
FREE = replace(LIMITS, pace="free")
LAG, CONTEXT = 1, 250
NOTHING: Tail = ([], 0)


def nothing_unheard() -> int:
    return 0


T = TypeVar("T")


def frame(value: float = 0.5) -> Samples:
    return np.full(FRAME_SAMPLES, value, np.float32)


def frames(count: int, value: float = 0.5) -> list[Samples]:
    return [frame(value) for _ in range(count)]


def only(kind: type[T], actions: list[Any]) -> list[T]:
    """The actions of one kind, in order."""
    return [action for action in actions if isinstance(action, kind)]


def started(
    limits: Limits = LIMITS,
    now: float = 0.0,
    tail: Tail = NOTHING,
    forget: Callable[[], int] = nothing_unheard,
) -> Session:
    """A running session; `tail` is what its input still holds when it ends."""
    session = Session(limits, lambda: tail, forget, now)
    session.start(LAG, CONTEXT, now)
    return session


def owed(session: Session) -> int:
    """Frames that the model has and did not answer."""
    counts = session.counts
    return counts.accepted - counts.answered - counts.unanswered


def reply(session: Session, now: float, text: str = "", error: str | None = None) -> Actions:
    """The model answers the oldest frame that it owes."""
    number = session.counts.answered
    pcm = None if error else frame(0.25)
    return session.answer(FrameResult(Ticket(0, 1), number, pcm, text, 1, now, error), now)


def reply_all(session: Session, now: float) -> Actions:
    """The model answers, and the socket takes, everything that is owed."""
    out: Actions = []
    while owed(session):
        out += [*reply(session, now), *session.written(1, now)]
    return out
