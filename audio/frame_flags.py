"""What happened to a frame on its way, one byte a frame, and the run lengths metadata keeps.

Refuses to know files.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntFlag
from itertools import chain, groupby, repeat


class FrameFlags(IntFlag):
    """Bits of a frame's byte; 0 is a frame as it should be."""

    PADDED_INPUT = 1
    DROPPED_INPUT = 2
    MUTED = 4
    SILENCE_FED = 8
    AGENT_SILENT = 16
    GUARDED = 32
    """The agent's audio was made silence by a guardrail."""


Runs = list[list[int]]
"""Pairs [flags, frames] in order; the frames add up to the recording's."""


def fold(flags: Iterable[int]) -> Runs:
    """Flags frame by frame to run lengths."""
    return [[value, sum(1 for _ in run)] for value, run in groupby(flags)]


def unfold(runs: Runs) -> list[FrameFlags]:
    """Run lengths to flags frame by frame."""
    return [*chain.from_iterable(repeat(FrameFlags(value), frames) for value, frames in runs)]
