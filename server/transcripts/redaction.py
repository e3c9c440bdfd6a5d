r"""What is blanked before anything is written: named patterns, and the words that they cover.

    [patterns]
    order_number = 'order (number )?[a-z]?\d{4,}'
    code_word = 'blue (sky|moon)'

A file like this one names RE2 patterns, which take linear time whatever they are. Letters match in either
case. A pattern sees the words of a channel joined by single blanks, once as they are and once without the
punctuation around them, so that it matches across words, fragments and utterances, but at most REACH words.
Every word that a match touches is blanked as a whole and becomes `[name]`. Numbers and addresses as people
say them ("four one double one", "at gmail dot com") are found by patterns for just that; none is built in.

Audio is not redacted. Pure but for reading the file. Refuses to know what the words are written to.
"""

from __future__ import annotations

import re
import tomllib
from collections import deque
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Generic, TypeVar

import re2

from server.settings import ConfigError

REACH = 32
"""Words that one match can cover while a call is written, and that therefore wait in memory."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_AROUND = re.compile(r"^[^\w]+|[^\w]+$")

Item = TypeVar("Item")
Pattern = Any
"""The library has no types."""


class Redaction:
    """The patterns of one file, or none. Any thread may call."""

    def __init__(self, patterns: Sequence[tuple[str, Pattern]] = ()) -> None:
        self._patterns = tuple(patterns)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def covered(self, words: Sequence[str]) -> list[str | None]:
        """For each word the name of a pattern that matches it, alone or together with its neighbours."""
        names: list[str | None] = [None] * len(words)
        if self._patterns:
            self._cover(words, names)
            self._cover([_AROUND.sub("", word) for word in words], names)
        return names

    def words(self, words: Sequence[str]) -> list[str]:
        return [_shown(word, name) for word, name in zip(words, self.covered(words), strict=True)]

    def text(self, text: str) -> str:
        """A running text; as it is, blanks and all, where nothing in it matches."""
        words = text.split()
        names = self.covered(words)
        if not any(names):
            return text
        spans = groupby(zip(words, names, strict=True), key=lambda each: each[1])
        return " ".join(f"[{name}]" if name else " ".join(word for word, _ in span) for name, span in spans)

    def _cover(self, words: Sequence[str], names: list[str | None]) -> None:
        ends: list[int] = []
        at = -1
        for word in words:
            at += len(word) + 1
            ends.append(at)
        text = " ".join(words).encode(errors="replace").decode()  # the library takes no lone surrogates
        for name, pattern in self._patterns:
            first = 0
            for match in pattern.finditer(text):
                if match.start() == match.end():
                    continue
                while ends[first] <= match.start():
                    first += 1
                touched = first
                while touched < len(ends) and (touched == first or ends[touched - 1] + 1 < match.end()):
                    names[touched] = names[touched] or name
                    touched += 1


NOTHING = Redaction()


class Window(Generic[Item]):
    """A channel's words on their way to the disk. Where there are patterns, REACH words wait here: one
    leaves when no match can reach it any more, blanked if one did."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._gone: deque[str] = deque(maxlen=REACH)
        self._held: deque[tuple[Item, str]] = deque()
        self._names: dict[int, str] = {}
        self._first = 0

    def put(self, item: Item, text: str) -> list[tuple[Item, str]]:
        """Returns what leaves, each with its text."""
        if not self._redaction:
            return [(item, text)]
        self._held.append((item, text))
        self._look()
        return [self._leave()] if len(self._held) > REACH else []

    def flush(self) -> list[tuple[Item, str]]:
        """Nothing follows."""
        return [self._leave() for _ in range(len(self._held))]

    def _look(self) -> None:
        texts = [*self._gone, *(text for _, text in self._held)]
        for at, name in enumerate(self._redaction.covered(texts)[len(self._gone) :], self._first):
            if name is not None:
                self._names.setdefault(at, name)

    def _leave(self) -> tuple[Item, str]:
        item, text = self._held.popleft()
        self._gone.append(text)
        self._first += 1
        return item, _shown(text, self._names.pop(self._first - 1, None))


def load_redaction(file: Path | None) -> Redaction:
    """The patterns of a file; without one, none.

    Raises:
        ConfigError: the file or a pattern cannot be used; it names the line.
    """
    if file is None:
        return NOTHING
    try:
        text = file.read_text("utf-8")
        tables = tomllib.loads(text)
    except OSError as error:
        raise ConfigError("redact", f"cannot be read: {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError("redact", f"cannot be read: {file} is not text") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("redact", f"is no TOML: {file}: {error}") from error
    patterns = tables.pop("patterns", {})
    if tables or not isinstance(patterns, dict) or not patterns:
        raise ConfigError("redact", f"must hold one table [patterns] with names and patterns: {file}")
    return Redaction([(name, _compiled(name, given, file, text)) for name, given in patterns.items()])


def _compiled(name: str, given: object, file: Path, text: str) -> Pattern:
    where = f"{file}:{_line_of(name, text)}"
    if not _NAME.fullmatch(name):
        raise ConfigError("redact", f"{where}: a name is letters, digits, _ and -, not {name!r}")
    if not isinstance(given, str):
        raise ConfigError("redact", f"{where}: {name} must be a pattern in quotes")
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    try:
        pattern = re2.compile(given, options)
    except re2.error as error:
        raise ConfigError("redact", f"{where}: {name} is no RE2 pattern: {_reason(error)}") from error
    if pattern.search("") is not None:
        raise ConfigError("redact", f"{where}: {name} matches no word at all, and so everything")
    return pattern


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else error
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)


def _line_of(name: str, text: str) -> int:
    key = re.compile(rf"""\s*(patterns\s*\.\s*)?["']?{re.escape(name)}["']?\s*=""")
    return next((n for n, line in enumerate(text.splitlines(), 1) if key.match(line)), 1)


def _shown(word: str, name: str | None) -> str:
    return f"[{name}]" if name else word
