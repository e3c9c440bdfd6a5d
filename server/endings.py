"""Every way a session can end, as rows of one table: who is told what, and how the connection closes.

The wire knows five reasons only (openai/types/live/session_closed_event.py); metrics and recordings
keep ours. Refuses to know when any of them happens (`server.session`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from duet_client.wire import CloseCode, CloseReason


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a session ends and what follows.

    reason: ours, a short fixed word. wire_reason: what `session.closed` says.
    close_code: None where nobody is there to read it, so that the connection is cut.
    graceful: frames already handed in are still answered and sent.
    hears_out: audio that was received but not handed in yet is heard first, else it is dropped.
    told_as, code, message: what the client is told before the end, as a notice or as an error of that
    type; None for nothing.
    """

    reason: str
    wire_reason: CloseReason
    close_code: CloseCode | None
    graceful: bool = False
    hears_out: bool = False
    told_as: Literal["info", "invalid_request_error", "server_error"] | None = None
    code: str = ""
    message: str = ""


CLOSE_REQUESTED = Ending("close_requested", "close_requested", CloseCode.NORMAL, True, True)
EXPIRED = Ending("expired", "expired", CloseCode.NORMAL, True)
REMOTE_HANGUP = Ending("remote_hangup", "remote_hangup", CloseCode.NORMAL, True)
IDLE = Ending(
    "idle",
    "expired",
    CloseCode.NORMAL,
    True,
    told_as="info",
    code="idle_timeout",
    message="neither audio nor a command came for too long",
)
DRAINED = Ending("drained", "expired", CloseCode.GOING_AWAY, True)
CONTENT = Ending(
    "content",
    "content",
    CloseCode.POLICY,
    True,
    told_as="info",
    code="guardrail_ended",
    message="a guardrail ends this session",
)
SHUT_DOWN = Ending(
    "shut_down",
    "expired",
    CloseCode.GOING_AWAY,
    told_as="info",
    code="shut_down",
    message="the server stops now",
)
HUNG_UP = Ending("client_hangup", "remote_hangup", None)
"""The client closed the connection, as one does at the end of a call."""
CONNECTION_LOST = Ending("connection_lost", "connection_lost", None)
SLOW_CLIENT = Ending("slow_client", "connection_lost", None)
NOT_STARTED = Ending(
    "not_started",
    "connection_lost",
    CloseCode.POLICY,
    told_as="invalid_request_error",
    code="start_timeout",
    message="no session.start came in time",
)
BAD_START = Ending("bad_start", "connection_lost", CloseCode.POLICY)
NO_ROOM = Ending(
    "no_room",
    "connection_lost",
    CloseCode.TRY_AGAIN,
    told_as="server_error",
    code="server_full",
    message="the last place was taken in the meantime; try again",
)
TOO_MUCH_AUDIO = Ending(
    "too_much_audio",
    "remote_hangup",
    CloseCode.POLICY,
    told_as="invalid_request_error",
    code="audio_backlog_exceeded",
    message="more audio is waiting than this server keeps for a session; send it at the pace of speech",
)
BAD_AUDIO = Ending(
    "bad_audio",
    "remote_hangup",
    CloseCode.POLICY,
    told_as="invalid_request_error",
    code="invalid_audio",
    message="the audio cannot be decoded",
)
MESSAGE_TOO_BIG = Ending(
    "message_too_big",
    "remote_hangup",
    CloseCode.TOO_BIG,
    told_as="invalid_request_error",
    code="message_too_big",
    message="a message is larger than this server takes",
)
MODEL_ERROR = Ending(
    "model_error",
    "connection_lost",
    CloseCode.INTERNAL,
    told_as="server_error",
    code="model_error",
    message="the model cannot go on with this session",
)
INTERNAL_ERROR = Ending(
    "internal_error",
    "connection_lost",
    CloseCode.INTERNAL,
    told_as="server_error",
    code="internal_error",
    message="this session broke down inside the server",
)
