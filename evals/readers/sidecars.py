"""What lies beside a sound file: words, annotations, references, what a log knows.

    X.json                 our recorder's metadata, or a transcript
    X.transcript.json, X.words.json, X.seglst.json     words of both channels
    X.user.json, X.agent.json                          words of one channel
    X.ctm, X.stm, X.TextGrid, X.rttm                   words, or speech for the `log` layer
    X.annotations.json     [{"type", "start", "end", "expected"?, "text"?}], or under "annotations"
    X.reference.json       {"user"?: script, "agent"?: script}
    X.log.jsonl            {"type": "speech", "channel", "start", "end"} or
                           {"type": "response", "user_end", "latency"}, one a line

A file that cannot be used is one line among the warnings, and the rest is used.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evals.conversation import Annotation, ChannelName, InputError, LoggedTurn
from evals.intervals import Interval, Intervals, at_most
from evals.labels import WORD_TIERS, Label, activity_of, channel_of, spread
from evals.readers import lines, textgrid
from evals.readers.words_json import Words, parse_words, read_json
from evals.words import RawWord, Word, repaired


@dataclass
class Beside:
    """What was found; words as the files have them."""

    words: dict[ChannelName, list[RawWord]] = field(default_factory=dict)
    words_source: str = ""
    annotations: list[Annotation] = field(default_factory=list)
    reference: dict[ChannelName, str] = field(default_factory=dict)
    activity: dict[ChannelName, Intervals] = field(default_factory=dict)
    log: list[LoggedTurn] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    def placed_annotations(self, duration_s: float) -> tuple[Annotation, ...]:
        """In order and inside the recording: what is not in it did not happen; said among the warnings."""
        inside = [a for a in self.annotations if a.span.start >= 0 and at_most(a.span.start, duration_s)]
        if len(inside) < len(self.annotations):
            outside = len(self.annotations) - len(inside)
            self.warnings.append(f"{outside} annotations begin outside the recording: left out")
        beyond = [a for a in inside if not at_most(a.span.end, duration_s)]
        if beyond:
            self.warnings.append(f"{len(beyond)} annotations end beyond the end of the recording: cut")
        return tuple(sorted((_cut(a, duration_s) for a in inside), key=lambda a: (a.span, a.type)))

    def repaired_words(self, duration_s: float) -> dict[ChannelName, tuple[Word, ...]]:
        """In order and inside the recording; what was repaired joins the warnings."""
        found = {}
        for channel, raw in self.words.items():
            found[channel], notes = repaired(raw, channel, duration_s)
            self.warnings += notes
        return found


def read_beside(audio: Path) -> Beside:
    """Everything beside one sound file; the first file that has words gives them."""
    found = Beside()
    for suffix, use in _READERS.items():
        path = audio.with_name(audio.stem + suffix)
        if path.is_file():
            take(found, path, use)
    return found


def take(found: Beside, path: Path, use: Callable[[Beside, Path], None]) -> None:
    """Use one file, or say in one line why not."""
    try:
        use(found, path)
    except InputError as error:
        text = str(error)
        found.warnings.append(f"{text if text.startswith(path.name) else f'{path.name} {text}'}: left out")
    found.files.append(path)


def add_words(found: Beside, path: Path, words: Words) -> None:
    """Raises InputError where the words are of one channel and the file does not say which."""
    if None in words:
        raise InputError("has words of one channel and does not say which: name it .user.json or .agent.json")
    fresh = {channel: raw for channel, raw in words.items() if channel and channel not in found.words}
    found.words |= fresh
    found.words_source = found.words_source or path.name if fresh else found.words_source


def _cut(annotation: Annotation, duration_s: float) -> Annotation:
    span = annotation.span
    return replace(annotation, span=Interval(min(span.start, duration_s), min(span.end, duration_s)))


def use_channel_json(channel: ChannelName) -> Callable[[Beside, Path], None]:
    """A reader of words that are of one channel."""

    def use(found: Beside, path: Path) -> None:
        words = parse_words(read_json(path))
        add_words(found, path, {channel: words.get(channel, words.get(None, []))})

    return use


def use_annotations(found: Beside, path: Path) -> None:
    data = read_json(path)
    found.annotations += parse_annotations(data.get("annotations") if isinstance(data, dict) else data)


def parse_annotations(items: Any) -> list[Annotation]:
    """Those that are of the user and came about as they were meant to.

    Raises InputError naming the field.
    """
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise InputError("has no list of annotations, each an object of type, start and end")
    return [_annotation(item) for item in items if item.get("staged", True)]


def _annotation(item: dict[str, Any]) -> Annotation:
    try:
        start, end = float(item["start"]), float(item.get("end", item["start"]))
        span = Interval(start, end)
        return Annotation(str(item["type"]), span, str(item.get("expected", "")), str(item.get("text", "")))
    except KeyError as error:
        raise InputError(f"has an annotation without {error}") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"has a bad annotation: {error}") from None


def _use_json(found: Beside, path: Path) -> None:
    data = read_json(path)
    if isinstance(data, dict) and "flag_bits" in data:  # our recorder's metadata
        return
    add_words(found, path, parse_words(data))


def _use_words(found: Beside, path: Path) -> None:
    add_words(found, path, parse_words(read_json(path)))


def _use_ctm(found: Beside, path: Path) -> None:
    segments = lines.parse_ctm(_text(path))
    raw: Words = {"user": [], "agent": []}
    for word in segments:
        raw[word.channel].append(RawWord(word.text, word.start, word.end, word.probability))
    add_words(found, path, raw)


def _use_stm(found: Beside, path: Path) -> None:
    add_words(found, path, dict(spread(lines.parse_stm(_text(path))).items()))
    found.warnings.append(f"{path.name} has no times of words: spread evenly over each segment")


def _use_rttm(found: Beside, path: Path) -> None:
    found.activity |= activity_of(lines.parse_rttm(_text(path)))


def _use_textgrid(found: Beside, path: Path) -> None:
    tiers = textgrid.parse_textgrid(_text(path))
    words: Words = {c: _raw(tiers[name]) for c, name in WORD_TIERS.items() if name in tiers}
    if not words:
        raise InputError(f"has no tier {' or '.join(WORD_TIERS.values())}")
    add_words(found, path, words)


def _raw(labels: Iterable[Label]) -> list[RawWord]:
    return [RawWord(label.text, label.start, label.end) for label in labels]


def _use_reference(found: Beside, path: Path) -> None:
    data = read_json(path)
    if not isinstance(data, dict) or not all(isinstance(text, str) for text in data.values()):
        raise InputError("must be an object of channel and script")
    found.reference |= {channel_of(name): text for name, text in data.items()}


def _use_log(found: Beside, path: Path) -> None:
    spans: dict[ChannelName, list[Interval]] = {}
    for number, line in enumerate(_text(path).splitlines(), 1):
        try:
            item = json.loads(line)
            if item["type"] == "speech":
                spans.setdefault(channel_of(item["channel"]), []).append(Interval(item["start"], item["end"]))
            elif item["type"] == "response":
                found.log.append(_logged_turn(item))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"line {number} is no event of a log: {error}") from None
    found.activity |= {channel: tuple(sorted(ones)) for channel, ones in spans.items()}


def _logged_turn(item: dict[str, Any]) -> LoggedTurn:
    turn = LoggedTurn(float(item["user_end"]), float(item["latency"]))
    if not math.isfinite(turn.user_end_s) or not math.isfinite(turn.latency_s):
        raise ValueError("its times are not finite")
    return turn


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}") from None


_READERS: dict[str, Callable[[Beside, Path], None]] = {
    ".transcript.json": _use_words,
    ".words.json": _use_words,
    ".seglst.json": _use_words,
    ".json": _use_json,
    ".user.json": use_channel_json("user"),
    ".agent.json": use_channel_json("agent"),
    ".ctm": _use_ctm,
    ".TextGrid": _use_textgrid,
    ".stm": _use_stm,
    ".rttm": _use_rttm,
    ".annotations.json": use_annotations,
    ".reference.json": _use_reference,
    ".log.jsonl": _use_log,
}

SUFFIXES = tuple(_READERS)
"""What may lie beside a sound file, after its stem."""
