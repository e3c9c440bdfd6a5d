"""JSON with words: the several shapes that transcripts come in, told apart by what they hold.

    {"chunks": [{"text", "timestamp": [s, e]}]}           Whisper and parakeet pipelines, Full-Duplex-Bench
    {"words": [{"word" | "text", "start", "end"}]}        and {"segments": [{"words": [...]}]}, Whisper
    {"words": {"user": [...], "agent": [...]}}            the driver's session.json
    {"channels": [{"speaker", "words": [{"text", "start_ms", "end_ms"}]}]}    the client's transcripts
    {"status", "utterances": [{"channel", "words": [{"word", "start_ms", "end_ms", "probability"}]}]}
                                                          the server's transcripts
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

_SERVED = ("closed", "final", "recovered")
"""What the status of a server's transcript may be."""


def read_json(path: Path) -> Any:
    """Raises InputError where it is no JSON."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path.name} is not JSON: {str(error).splitlines()[0]}") from None


def parse_words(data: Any) -> Words:
    """Of no channel where a server's transcript keeps no words. Raises InputError for any other shape."""
    try:
        found = _shaped(data)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        found = None
    if found is None:
        raise InputError(
            "is no JSON with words that is known here"
            " (chunks, words, segments, channels or utterances with words, or SegLST)"
        )
    return found


def _shaped(data: Any) -> Words | None:
    if isinstance(data, list):
        return _both(spread(parse_seglst(data))) if data else None
    for key, read in _SHAPES.items():
        if key in data:
            return read(data[key])
    return _served(data) if data.get("status") in _SERVED else None


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


def _served(data: dict[str, Any]) -> Words:
    """Both channels where anybody transcribed the call: one that is not in it was heard to be silent.

    The agent's written text is no stand-in where nobody did: its times are not those of its sound.
    """
    told = data.get("utterances", [])
    if not told and not data.get("transcriber"):
        return {}
    words: dict[ChannelName, list[RawWord]] = {channel: [] for channel in CHANNELS}
    for each in told:
        words[channel_of(each["channel"])] += map(_word, each["words"])
    return _both(words)


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
    surety = _number(item.get("probability", item.get("confidence", item.get("score"))))
    if "start_ms" in item:
        return RawWord(str(text).strip(), item["start_ms"] / 1000, item["end_ms"] / 1000, surety)
    return RawWord(str(text).strip(), _number(item["start"]), _number(item.get("end")), surety)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
