"""Line-based exchange formats: CTM, STM, RTTM, UEM, SegLST, Audacity labels, WebVTT, SRT.

Times have three decimals: what is read back is equal to a millisecond.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from evals.labels import Label, Segment

_NUMBERS = {"user": "1", "agent": "2"}


def ctm(name: str, words: Iterable[Segment]) -> str:
    """One line a word; words without a known probability have no confidence."""
    lines = []
    for word in sorted(words, key=lambda w: (w.channel != "user", w.start)):
        surety = "" if word.probability is None else f" {word.probability:.3f}"
        text = "_".join(word.text.split()) or "<unk>"
        lines.append(f"{name} {_NUMBERS[word.channel]} {_onset(word)} {text}{surety}")
    return _joined(lines)


def stm(name: str, segments: Iterable[Segment]) -> str:
    return _joined(
        f"{name} {_NUMBERS[s.channel]} {s.channel} {s.start:.3f} {s.end:.3f} <o> {s.text}".rstrip()
        for s in segments
    )


def rttm(name: str, segments: Iterable[Segment]) -> str:
    """One line a stretch of speech; the speaker is the channel."""
    return _joined(
        f"SPEAKER {name} {_NUMBERS[s.channel]} {_onset(s)} <NA> <NA> {s.channel} <NA> <NA>" for s in segments
    )


def uem(name: str, duration_s: float) -> str:
    """Both channels are scored from the first to the last moment."""
    return _joined(f"{name} {number} 0.000 {duration_s:.3f}" for number in _NUMBERS.values())


def seglst(name: str, segments: Iterable[Segment]) -> str:
    found = [
        {
            "session_id": name,
            "speaker": s.channel,
            "start_time": round(s.start, 3),
            "end_time": round(s.end, 3),
            "words": s.text,
        }
        | ({} if s.probability is None else {"confidence": round(s.probability, 3)})
        for s in segments
    ]
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def audacity(labels: Iterable[Label]) -> str:
    return _joined(f"{label.start:.6f}\t{label.end:.6f}\t{_flat(label.text)}" for label in labels)


def vtt(segments: Sequence[Segment]) -> str:
    """A cue for each stretch with words, its speaker as the voice."""
    cues = [
        f"{_clock(s.start, '.')} --> {_clock(s.end, '.')}\n<v {s.channel}>{_escaped(s.text)}"
        for s in segments
        if s.text
    ]
    return "\n\n".join(["WEBVTT", *cues]) + "\n"


def srt(segments: Sequence[Segment]) -> str:
    """As WebVTT, with the speaker before a colon."""
    said = [s for s in segments if s.text]
    cues = [
        f"{n}\n{_clock(s.start, ',')} --> {_clock(s.end, ',')}\n{s.channel}: {_flat(s.text)}"
        for n, s in enumerate(said, 1)
    ]
    return "\n\n".join(cues) + "\n" if cues else ""


def _onset(segment: Segment) -> str:
    """Onset and duration, rounded so that their sum is the rounded end."""
    start = round(segment.start, 3)
    return f"{start:.3f} {round(segment.end, 3) - start:.3f}"


def _clock(time_s: float, mark: str) -> str:
    whole, ms = divmod(round(time_s * 1000), 1000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{mark}{ms:03d}"


def _escaped(text: str) -> str:
    return _flat(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _flat(text: str) -> str:
    return " ".join(text.split())


def _joined(lines: Iterable[str]) -> str:
    return "".join(line + "\n" for line in lines)
