"""Where a transcriber takes up a call that another began: what the server knows, and where to listen from.

Refuses to know connections and audio.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from audio.frames import FRAME_MS
from duet_client.wire import Channel, WireError, Word

CHANNELS: tuple[Channel, ...] = ("user", "agent")
LEAD_MS = 1_500
"""The recogniser of speech needs a little of what came before."""
_PAUSE_MS = 300
_WORDS = 3
"""Told words that are heard again at least, to see where the untold ones begin."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One channel: every word before `through_ms` is told, and those are the last of them."""

    last: tuple[Word, ...] = ()
    through_ms: int = 0

    @property
    def from_ms(self) -> int:
        """Where to listen from: a pause between told words if there is one, so that no word is cut."""
        if not self.last or self.through_ms - self.last[-1].end_ms > LEAD_MS:
            return max(0, self.through_ms - LEAD_MS)
        pauses = [
            (a.end_ms + b.start_ms) // 2 - _PAUSE_MS // 2
            for a, b in pairwise(self.last[: -_WORDS + 1])
            if b.start_ms - a.end_ms >= _PAUSE_MS
        ]
        return max(0, pauses[-1] if pauses else self.last[0].start_ms - LEAD_MS)


def standing(transcript: Mapping[str, Any]) -> dict[Channel, Standing]:
    """The channels of `duet.attached`. Raises WireError where they are not as the wire has them."""
    return {channel: _standing(channel, transcript.get(channel)) for channel in CHANNELS}


def from_ms(standings: Mapping[Channel, Standing]) -> int:
    """The beginning of a frame from which both channels can be taken up."""
    return min(each.from_ms for each in standings.values()) // FRAME_MS * FRAME_MS


def _standing(channel: str, value: Any) -> Standing:
    try:
        words = tuple(Word(**each) for each in value["last"])
        return Standing(words, int(value["through_ms"]))
    except (TypeError, KeyError, ValueError):
        raise WireError(
            "invalid_value", f"transcript.{channel} is no state of a transcript", channel
        ) from None
