"""How the log looks: lines of text or one JSON object a line, in UTC, with the session they speak of.

Speech and keys stay out: nobody logs a transcript or a header, and what carries a key by accident (a
library that prints a header) is blanked here, and so is what `--redact` names. Refuses to know what is worth
logging.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import Callable, MutableMapping
from typing import Any, TextIO

from server.auth import KEY_SUBPROTOCOL_PREFIX

_SECRET = re.compile(rf"((?:{re.escape(KEY_SUBPROTOCOL_PREFIX)})|(?:\bbearer\s+))[^\s'\",]+", re.IGNORECASE)


class SessionLog(logging.LoggerAdapter[logging.Logger]):
    """A logger that adds its session's id to every message."""

    def __init__(self, logger: logging.Logger, session_id: str) -> None:
        super().__init__(logger, {"session": session_id})

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        return msg, {**kwargs, "extra": {**kwargs.get("extra", {}), **(self.extra or {})}}


def set_up_logs(level: str, form: str, stream: TextIO | None = None) -> None:
    """Sends the process's log to the stream (stderr by default): ours from the level on, what libraries
    say from warning on. level, form: as in ServerConfig."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("duet").setLevel(level.upper())


def hide_in_logs(blank: Callable[[str], str]) -> None:
    """From here on every message goes through `blank` too: no line of ours holds speech, but one of a
    library or of the sidecar might."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, _Formatter):
            handler.formatter.blank = blank


class _Formatter(logging.Formatter):
    """blank: takes out what no log is to hold, beside keys."""

    def __init__(self) -> None:
        super().__init__()
        self.blank: Callable[[str], str] = str

    def _clean(self, text: str) -> str:
        return self.blank(_SECRET.sub(r"\1[hidden]", text))

    def _trace(self, record: logging.LogRecord) -> list[str]:
        text = self.formatException(record.exc_info) if record.exc_info else ""
        return [self._clean(line) for line in text.splitlines()]


class TextFormatter(_Formatter):
    """`2026-01-31T12:00:00.123Z INFO duet.server sess_1234... message`, a traceback indented below it."""

    def format(self, record: logging.LogRecord) -> str:
        session = getattr(record, "session", None)
        words = [utc(record.created), record.levelname, record.name, *([session] if session else [])]
        # A line break inside a message would let a client write log lines of its own.
        message = self._clean(record.getMessage()).replace("\r", "\\r").replace("\n", "\\n")
        return "\n".join([" ".join([*words, message]), *("    " + line for line in self._trace(record))])


class JsonFormatter(_Formatter):
    """One JSON object a line: time, level, logger, message, and session and traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": utc(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._clean(record.getMessage()),
        }
        if session := getattr(record, "session", None):
            entry["session"] = session
        if trace := self._trace(record):
            entry["traceback"] = "\n".join(trace)
        return json.dumps(entry, ensure_ascii=False)


def utc(seconds: float) -> str:
    """Unix seconds as ISO 8601 with milliseconds: `2026-01-31T12:00:00.123Z`."""
    whole, milliseconds = divmod(int(seconds * 1000), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{milliseconds:03d}Z"
