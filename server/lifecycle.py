"""The life of a session as data: its states, what moves it from one to the next, and its timeouts.

    OPENING ──start──► RUNNING ──stop──► FINISHING ──answered──► FINALISING ──stored──► ENDED
       │                  └───────cut────────┴──────────cut──────────►┘                   ▲
       └──stop, cut───────────────────────────────────────────────────────────────────────┘

OPENING: connected, nothing asked for yet. RUNNING: frames in, frames out. FINISHING: no more input; the
model still owes answers. FINALISING: the place is given back, the recording is being finished.
Refuses to know what is done on the way (`server.session`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from server import endings
from server.endings import Ending


class State(Enum):
    OPENING = auto()
    RUNNING = auto()
    FINISHING = auto()
    FINALISING = auto()
    ENDED = auto()


class Step(Enum):
    """What can move a session on."""

    START = auto()
    STOP = auto()  # end, but answer what was handed in
    CUT = auto()  # end now: nobody listens, or nobody can answer
    ANSWERED = auto()  # every frame has its answer
    STORED = auto()  # the recording is finished, or there is none


TRANSITIONS: dict[tuple[State, Step], State] = {
    (State.OPENING, Step.START): State.RUNNING,
    (State.OPENING, Step.STOP): State.ENDED,
    (State.OPENING, Step.CUT): State.ENDED,
    (State.RUNNING, Step.STOP): State.FINISHING,
    (State.RUNNING, Step.CUT): State.FINALISING,
    (State.FINISHING, Step.ANSWERED): State.FINALISING,
    (State.FINISHING, Step.CUT): State.FINALISING,
    (State.FINALISING, Step.STORED): State.ENDED,
}
"""Any other step leaves the state as it is: a second close, an answer that comes too late."""


class Since(Enum):
    """The clocks a timeout may run on."""

    ENTERED = auto()  # since the state was entered
    SIGN = auto()  # since audio or a command came
    OWED = auto()  # since the model owes an answer without giving any
    DRAIN = auto()  # since the server was told to stop


@dataclass(frozen=True, slots=True)
class Timeout:
    """After `limit` (a field of `Limits`) on the clock `since`, in `state`: the session ends, or moves on."""

    state: State
    since: Since
    limit: str
    then: Ending | Step


TIMEOUTS = (
    Timeout(State.OPENING, Since.ENTERED, "start_timeout_s", endings.NOT_STARTED),
    Timeout(State.RUNNING, Since.ENTERED, "max_session_s", endings.EXPIRED),
    Timeout(State.RUNNING, Since.DRAIN, "drain_s", endings.DRAINED),
    Timeout(State.RUNNING, Since.SIGN, "idle_timeout_s", endings.IDLE),
    Timeout(State.RUNNING, Since.OWED, "answer_timeout_s", endings.MODEL_ERROR),
    Timeout(State.FINISHING, Since.DRAIN, "drain_cut_s", endings.SHUT_DOWN),
    Timeout(State.FINISHING, Since.OWED, "answer_timeout_s", endings.MODEL_ERROR),
    Timeout(State.FINALISING, Since.ENTERED, "store_timeout_s", Step.STORED),
)
