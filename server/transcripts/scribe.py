"""One transcript while it is written: redacted first, then whole lines, whatever the disk does.

What the disk does not take is lost, counted and logged once; the call goes on, and so do later lines.
Runs on the desk's thread; refuses to know it, and calls.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from server.logs import SessionLog
from server.transcripts.document import Counts, body, utterance
from server.transcripts.files import LINES, OPEN, WHOLE, Lines, Marker, claim, read_lines, write_whole
from server.transcripts.redaction import Redaction, Window

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Keeping:
    """What is kept of every transcript, and where."""

    folder: Path
    keep: Literal["metadata", "full"]
    redaction: Redaction


class Scribe:
    """metadata: what is known of the call at its start. on_lost is told how many more lines are missing."""

    def __init__(
        self,
        keeping: Keeping,
        session_id: str,
        metadata: Json,
        on_lost: Callable[[int], None],
        log: SessionLog,
    ) -> None:
        self._keeping = keeping
        self._base = keeping.folder / session_id
        self._head: Json = {
            "session_id": session_id,
            "started_unix_s": round(time.time(), 3),
            **metadata,
            "keep": keeping.keep,
        }
        self._on_lost = on_lost
        self._log = log
        self._counts = Counts()
        self._lost = 0
        self._told = False
        self._marker: Marker | None = None
        self._lines: Lines | None = None
        self._sealed = False
        self._windows: dict[tuple[str, str], Window[Json]] = {}

    def start(self) -> None:
        try:
            self._keeping.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._marker = Marker(self._path(OPEN), self._head)
            if self._keeping.keep == "full":
                self._lines = Lines(self._path(LINES))
        except OSError as error:
            self._fail(error)

    def write(self, lines: list[Json]) -> None:
        """Lines of the live file, of one channel and source, in order."""
        for line in lines:
            self._counts.line(line)
        if self._keeping.keep == "full":
            self._put([shown for line in lines for shown in self._window(line).put(line, _text(line))])

    def skip(self, lines: int) -> None:
        """So many could not wait."""
        if lines:
            self._lose(lines, "the disk is slow")

    def close(self, facts: Json) -> None:
        """The call is over, and its last pass is waited for. facts: what is known of it now."""
        self._head |= facts
        self._write("closed", None)

    def seal(self, facts: Json, model: str, utterances: list[Json]) -> None:
        """The transcriber made its last pass; no line follows. facts: as for `close`."""
        self._head |= facts
        self._flush()
        self._sealed = self._write("final", utterances, model)

    def end(self, facts: Json) -> None:
        """Nothing follows. facts: as for `close`."""
        self._head |= facts
        self._flush()
        try:
            if self._lines is not None:
                self._lines.close()
        except OSError as error:
            self._fail(error)
        whole = self._sealed or self._write("closed", None)
        if self._marker is not None:
            (self._marker.remove if whole else self._marker.leave)()

    def _write(self, status: str, utterances: list[Json] | None, model: str | None = None) -> bool:
        """Whether it is on disk."""
        content = {"session_id": self._head["session_id"], "status": status} | self._head
        content["counts"] = self._counts.describe()
        try:
            if self._keeping.keep == "full":
                told = None if utterances is None else _redacted(utterances, self._keeping.redaction)
                content["transcriber"] = None if model is None else {"model": model}
                content |= body(read_lines(self._path(LINES)), told)
            if self._lost:
                content["lines_lost"] = self._lost
            write_whole(self._path(WHOLE), content)
        except OSError as error:
            self._fail(error)
            return False
        return True

    def _flush(self) -> None:
        self._put([shown for window in self._windows.values() for shown in window.flush()])

    def _put(self, shown: list[tuple[Json, str]]) -> None:
        if not shown:
            return
        try:
            if self._lines is None:
                self._lose(len(shown), "there is no file")
            else:
                self._lines.append(_with_text(line, text) for line, text in shown)
        except OSError as error:
            self._lose(len(shown), str(error))

    def _window(self, line: Json) -> Window[Json]:
        key = line["channel"], line["source"]
        return self._windows.get(key) or self._windows.setdefault(key, Window(self._keeping.redaction))

    def _lose(self, lines: int, why: str) -> None:
        self._lost += lines
        self._on_lost(lines)
        self._tell(why)

    def _fail(self, error: OSError) -> None:
        self._on_lost(1)
        self._tell(str(error))

    def _tell(self, why: str) -> None:
        if not self._told:
            self._log.error("the transcript is not complete on disk: %s", why)
        self._told = True

    def _path(self, suffix: str) -> Path:
        return self._base.with_name(self._base.name + suffix)


def recover(marker: Path) -> bool:
    """Writes the transcript of a call whose server was killed; whether there was one. Raises OSError."""
    metadata = claim(marker)
    if metadata is None:
        return False
    session_id = marker.name.removesuffix(OPEN)
    whole, lines = (marker.with_name(session_id + suffix) for suffix in (WHOLE, LINES))
    content: Json = {"session_id": session_id, "status": "recovered"} | metadata
    with suppress(FileNotFoundError):  # it waited for its last pass
        content |= json.loads(whole.read_bytes())
    if content["status"] != "final":
        words = read_lines(lines)
        if words or content.get("keep") == "full":
            content |= {"counts": Counts(words).describe(), "transcriber": None, **body(words, None)}
        write_whole(whole, content)
    marker.unlink()
    return True


def _redacted(utterances: list[Json], redaction: Redaction) -> list[Json]:
    """Every channel is looked at as a whole: a phrase may be cut in two by a pause."""
    told: list[Json] = []
    for channel in ("user", "agent"):
        ours = sorted(
            (each for each in utterances if each["channel"] == channel), key=lambda each: each["start_ms"]
        )
        texts = iter(redaction.words([word["word"].strip() for each in ours for word in each["words"]]))
        told += [
            utterance(
                channel,
                each["start_ms"],
                each["end_ms"],
                [{**word, "word": next(texts)} for word in each["words"]],
            )
            for each in ours
        ]
    return told


def _text(line: Json) -> str:
    return str(line["text"] if line["source"] == "model" else line["word"]).strip()


def _with_text(line: Json, text: str) -> Json:
    return {**line, "text" if line["source"] == "model" else "word": text}
