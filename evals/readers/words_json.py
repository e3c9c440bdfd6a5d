"""JSON with words: the several shapes that transcripts come in, told apart by what they hold.

    {"chunks": [{"text", "timestamp": [s, e]}]}           Whisper and parakeet pipelines, Full-Duplex-Bench
    {"words": [{"word" | "text", "start", "end"}]}        and {"segments": [{"words": [...]}]}, Whisper
    {"words": {"user": [...], "agent": [...]}}            the driver's session.json
    {"channels": [{"speaker", "words": [{"text", "start_ms", "end_ms"}]}]}    our transcripts
    [{"speaker", "start_time", "end_time", "words"}]      SegLST

Refuses to know which audio they belong to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evals.conversation import CHANNELS, ChannelName, InputError
from evals.labels import Segment, channel_of, spread
from evals.words import RawWord

Words = dict[ChannelName | None, list[RawWord]]
"""By channel; None where the file is of one channel and does not say which."""


def read_json(path: Path) -> Any:
    """Raises InputError where it is no JSON."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path.name} is not JSON: {str(error).splitlines()[0]}") from None


def parse_words(data: Any) -> Words:
    """Raises InputError where the shape is none of those above."""
    try:
        found = _shaped(data)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        found = None
    if found is None:
        raise InputError(
            "is no JSON with words that is known here"
            " (chunks, words, segments, channels with words, or SegLST)"
        )
    return found


def _shaped(data: Any) -> Words | None:
    if isinstance(data, list):
        return _both(spread(parse_seglst(data))) if data else None
    for key, read in _SHAPES.items():
        if key in data:
            return read(data[key])
    return None


def _both(words: Mapping[ChannelName, list[RawWord]]) -> Words:
    return {channel: words[channel] for channel in CHANNELS}


def _chunks(items: list[Any]) -> Words:
    return {None: [_chunk(item) for item in items]}


def _channels(items: list[Any]) -> Words:
    return {channel_of(item["speaker"]): list(map(_word, item["words"])) for item in items}


def _words(items: list[Any] | dict[str, Any]) -> Words:
    if isinstance(items, dict):
        return {channel_of(name): list(map(_word, words)) for name, words in items.items()}
    return {None: list(map(_word, items))}


def _segments(items: list[Any]) -> Words:
    return {None: [_word(word) for segment in items for word in segment["words"]]}


_SHAPES: dict[str, Callable[[Any], Words]] = {
    "chunks": _chunks,
    "channels": _channels,
    "words": _words,
    "segments": _segments,
}


def parse_seglst(data: Any) -> list[Segment]:
    """Raises KeyError or InputError where a field is missing or a speaker unknown."""
    return [
        Segment(
            float(item["start_time"]),
            float(item["end_time"]),
            channel_of(str(item["speaker"])),
            str(item["words"]),
            item.get("confidence"),
        )
        for item in data
    ]


def _chunk(item: dict[str, Any]) -> RawWord:
    start, end = item["timestamp"]
    return RawWord(str(item["text"]).strip(), _number(start), _number(end))


def _word(item: dict[str, Any]) -> RawWord:
    text = item["word"] if "word" in item else item["text"]
    if "start_ms" in item:
        return RawWord(str(text).strip(), item["start_ms"] / 1000, item["end_ms"] / 1000)
    surety = item.get("probability", item.get("confidence", item.get("score")))
    return RawWord(str(text).strip(), _number(item["start"]), _number(item.get("end")), _number(surety))


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
