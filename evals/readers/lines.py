"""Line-based exchange formats: CTM, STM, RTTM, UEM, Audacity labels. Text in, segments out.

Every parser raises InputError with the line's number where a line cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from evals.conversation import InputError
from evals.intervals import Interval
from evals.labels import Label, Segment, channel_of

T = TypeVar("T")


def parse_ctm(text: str) -> list[Segment]:
    """`file channel onset duration word [confidence]`, one segment a word."""
    return list(_each(text, "CTM", _ctm))


def parse_stm(text: str) -> list[Segment]:
    """`file channel speaker start end [<labels>] words...`"""
    return list(_each(text, "STM", _stm))


def parse_rttm(text: str) -> list[Segment]:
    """`SPEAKER file channel onset duration <NA> <NA> speaker <NA> <NA>`; other line types are left out."""
    lines = "\n".join(line if line.split(None, 1)[:1] == ["SPEAKER"] else "" for line in text.splitlines())
    return list(_each(lines, "RTTM", _rttm))


def parse_uem(text: str) -> list[Interval]:
    """`file channel start end`: the regions that are scored."""
    return list(_each(text, "UEM", lambda f: Interval(float(f[2]), float(f[3]))))


def parse_audacity(text: str) -> list[Label]:
    """`start<TAB>end<TAB>text`; lines with a backslash hold frequencies and are left out."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("\\"):
            continue
        start, end, *rest = line.split("\t")[:3] if line.count("\t") else (line, "", "")
        try:
            found.append(Label(float(start), float(end), rest[0] if rest else ""))
        except ValueError:
            raise InputError(f"line {number} is no Audacity label: {line.strip()!r}") from None
    return found


def _each(text: str, kind: str, parse: Callable[[list[str]], T]) -> Iterator[T]:
    """Comments begin with two semicolons, as in NIST's formats."""
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith(";;"):
            continue
        try:
            yield parse(fields)
        except (ValueError, IndexError, InputError) as error:
            why = f": {error}" if isinstance(error, InputError) else ""
            raise InputError(f"line {number} is no {kind}: {line.strip()!r}{why}") from None


def _ctm(fields: list[str]) -> Segment:
    start = float(fields[2])
    surety = float(fields[5]) if len(fields) > 5 else None
    return Segment(start, round(start + float(fields[3]), 6), channel_of(fields[1]), fields[4], surety)


def _stm(fields: list[str]) -> Segment:
    words = [word for word in fields[5:] if not re.fullmatch(r"<[^>]*>", word)]
    return Segment(float(fields[3]), float(fields[4]), channel_of(fields[1]), " ".join(words))


def _rttm(fields: list[str]) -> Segment:
    start = float(fields[3])
    span = Interval(start, round(start + float(fields[4]), 6))
    return Segment(span.start, span.end, channel_of(fields[7]), "")
