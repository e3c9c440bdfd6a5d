"""The transcript of one call as one JSON object: pure, from its parts.

    session_id, status, keep, started_unix_s, wire, model, reason, frames, duration_ms
    counts         by channel: words, spoken_ms; written_words of the agent's
    guardrails     {hits, first: [{rule, listen, action, at_ms}]}
    disagreement   {episodes, worst, first: [{from_ms, to_ms, worst}]}, see `server.transcripts.agreement`
    transcriber    {model}, who made the last pass; null where there was none
    utterances     in time, both channels: {channel, start_ms, end_ms, text, words: [{word, start_ms,
                   end_ms, probability}]}, and for the agent `written`: the model's own text beside it
    agent_text     all that the model wrote: [{text, start_ms, end_ms}]
    lines_lost     how many lines the live file lacks, where it lacks any

status is `closed` (words as they came live), `final` (after the transcriber's last pass) or `recovered`
(the server was killed). With `--keep metadata` everything from `transcriber` on is left out.

Refuses to know files, clocks and redaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Json = dict[str, Any]

PAUSE_MS = 800
"""Words of one channel that are further apart belong to two utterances, where nobody cut them."""


@dataclass(slots=True)
class Count:
    """What was said on a channel. spoken_ms: the words' own durations."""

    words: int = 0
    spoken_ms: int = 0
    written_words: int = 0

    def line(self, line: Json) -> None:
        if line["source"] == "model":
            self.written_words += 1
        else:
            self.words += 1
            self.spoken_ms += line["end_ms"] - line["start_ms"]


class Counts:
    """Both channels'."""

    def __init__(self, lines: Iterable[Json] = ()) -> None:
        self._by = {"user": Count(), "agent": Count()}
        for line in lines:
            self.line(line)

    def line(self, line: Json) -> None:
        """One line of the live file."""
        self._by[line["channel"]].line(line)

    def describe(self) -> Json:
        user, agent = self._by["user"], self._by["agent"]
        return {
            "user": {"words": user.words, "spoken_ms": user.spoken_ms},
            "agent": {
                "words": agent.words,
                "spoken_ms": agent.spoken_ms,
                "written_words": agent.written_words,
            },
        }


def word_line(channel: str, word: Json) -> Json:
    """A word that Whisper heard, as the live file has it. word: as on the wire."""
    return {"channel": channel, "source": "whisper", **word}


def text_line(text: str, start_ms: int, end_ms: int) -> Json:
    """A word that the model wrote, as the live file has it."""
    return {"channel": "agent", "source": "model", "text": text, "start_ms": start_ms, "end_ms": end_ms}


def utterance(channel: str, start_ms: int, end_ms: int, words: list[Json]) -> Json:
    text = " ".join(word["word"].strip() for word in words)
    return {"channel": channel, "start_ms": start_ms, "end_ms": end_ms, "text": text, "words": words}


def body(lines: Iterable[Json], utterances: list[Json] | None) -> Json:
    """The words. lines: of the live file. utterances: of the last pass, or None where there was none."""
    lines = sorted(lines, key=lambda line: line["start_ms"])
    written = [_without(line, "channel", "source") for line in lines if line["source"] == "model"]
    if utterances is None:
        utterances = [each for channel in ("user", "agent") for each in _cut(channel, lines)]
    told = sorted(utterances, key=lambda each: (each["start_ms"], each["channel"]))
    agent = [each for each in told if each["channel"] == "agent"]
    for each, texts in zip(agent, _beside(agent, written), strict=True):
        each["written"] = " ".join(texts)
    return {"utterances": told, "agent_text": written}


def _cut(channel: str, lines: list[Json]) -> list[Json]:
    """The channel's words, cut at its pauses."""
    words = [
        _without(line, "channel", "source")
        for line in lines
        if line["source"] == "whisper" and line["channel"] == channel
    ]
    cuts = [n for n, (a, b) in enumerate(pairwise(words), 1) if b["start_ms"] - a["end_ms"] > PAUSE_MS]
    parts = [words[a:b] for a, b in pairwise([0, *cuts, len(words)])] if words else []
    return [utterance(channel, part[0]["start_ms"], part[-1]["end_ms"], part) for part in parts]


def _beside(agent: list[Json], written: list[Json]) -> list[list[str]]:
    """What the model wrote until each utterance ended; what it wrote after the last one stands with that."""
    texts: list[list[str]] = [[] for _ in agent]
    at = 0
    for each in written if agent else []:
        while at < len(agent) - 1 and each["start_ms"] > agent[at]["end_ms"]:
            at += 1
        texts[at].append(each["text"])
    return texts


def _without(line: Json, *names: str) -> Json:
    return {name: value for name, value in line.items() if name not in names}
