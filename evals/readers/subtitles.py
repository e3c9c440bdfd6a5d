"""WebVTT and SRT: text in, labels out. Refuses to know who speaks but by a WebVTT voice tag."""

from __future__ import annotations

import re

from evals.conversation import InputError
from evals.labels import Segment, channel_of

_TIMES = re.compile(r"((?:\d+:)?\d+:\d+[.,]\d+)\s*-->\s*((?:\d+:)?\d+:\d+[.,]\d+)")
_VOICE = re.compile(r"^(?:<v ([^>]+)>|(\w+): )")


def parse_subtitles(text: str) -> list[Segment]:
    """Cues in the file's order; the speaker is the voice tag, or the word before a colon.

    Raises InputError where a cue has no speaker that is known.
    """
    found = []
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
        lines = block.strip().split("\n")
        at = next((n for n, line in enumerate(lines) if _TIMES.match(line)), None)
        if at is None:
            continue
        times = _TIMES.match(lines[at])
        said = " ".join(lines[at + 1 :])
        voice = _VOICE.match(said)
        if times is None or voice is None:
            raise InputError(f"has a cue without a speaker: {said[:40]!r}")
        start, end = (_seconds(times[n]) for n in (1, 2))
        found.append(Segment(start, end, channel_of(voice[1] or voice[2]), _plain(said[voice.end() :])))
    return found


def _plain(text: str) -> str:
    return text.removesuffix("</v>").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _seconds(clock: str) -> float:
    total = 0.0
    for part in clock.replace(",", ".").split(":"):
        total = total * 60 + float(part)
    return round(total, 3)
