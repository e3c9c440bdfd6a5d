"""Every error this library raises, as one tree.

    DuetError
    ├── WireError          a message that breaks the wire's rules (also what a server answers with)
    ├── ConnectError       no session came of it
    │   ├── Unreachable    nobody answers there, or not with this protocol
    │   ├── Unauthorized   401: missing or wrong API key
    │   ├── Forbidden      403: this page or caller may not connect
    │   ├── NoSession      404: no such session, or it is over
    │   ├── ServerFull     503: no free place, `retry_after_s` says when to come back
    │   └── StartRefused   the server did not accept session.start
    ├── SessionLost        the connection ended before session.closed
    ├── Stalled            the server said nothing for too long
    └── CommandError       the command line cannot do what was asked

Refuses to know sockets: it only carries what others found out.
"""

from __future__ import annotations


class DuetError(Exception):
    """Base of everything this library raises on purpose; its text is one line for a person."""


class WireError(DuetError):
    """A message that breaks the wire's rules.

    code: invalid_json, unknown_type, missing_field, invalid_value or invalid_audio.
    param: dotted path of the offending field, such as `session.audio.format.rate`.
    client_event_id: the command's `event_id` where it could be read.
    """

    def __init__(
        self, code: str, message: str, param: str | None = None, client_event_id: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.param = param
        self.client_event_id = client_event_id


class ConnectError(DuetError):
    """The server was asked for a session and there is none."""


class Unreachable(ConnectError):
    """Nobody listens at the address, or what listens speaks another protocol."""


class Unauthorized(ConnectError):
    """HTTP 401: the API key is missing or wrong."""


class Forbidden(ConnectError):
    """HTTP 403: the server does not serve this origin."""


class NoSession(ConnectError):
    """HTTP 404: there is no such session, or it is over and done with."""


class ServerFull(ConnectError):
    """HTTP 503: every place is taken, for calls or for a call's observers.

    retry_after_s: seconds the server asks to wait, None where it named none.
    """

    def __init__(self, message: str, retry_after_s: float | None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class StartRefused(ConnectError):
    """The server answered session.start with an error, or never with session.started.

    code, param: as in the server's error event, None where the connection just ended.
    """

    def __init__(self, message: str, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.param = param


class SessionLost(DuetError):
    """The connection ended without session.closed, so nothing confirms that all was answered.

    close_code: the WebSocket close code, 1006 where the peer just vanished.
    """

    def __init__(self, message: str, close_code: int) -> None:
        super().__init__(message)
        self.close_code = close_code


class Stalled(DuetError):
    """The server said nothing for too long."""


class CommandError(DuetError):
    """The command line cannot do what was asked; shown as one line, exit code 2."""
