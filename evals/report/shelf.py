"""The room for sound in a page: which conversations' sound goes in, and what is said about the rest.

In the run's order, each conversation whole or not at all, by the size that is to be expected of it, so
that what goes in does not depend on how well it happens to compress. Refuses to know HTML.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from evals.report.clips import CLIP_BYTES_PER_S
from evals.report.sound import NoSound, Sound, read_sound
from evals.results import ConversationResult

BASE64_GROWTH = 4 / 3


@dataclass(frozen=True, slots=True)
class Wanted:
    """number: of the conversation in the page."""

    number: int
    audio: str
    user_channel: int


@dataclass
class SoundShelf:
    """folders: where relative paths are looked for. limit_bytes: of base64 in the page."""

    folders: tuple[Path, ...]
    limit_bytes: float
    wanted: list[Wanted] = field(default_factory=list)
    expected_bytes: float = 0.0
    used_bytes: int = 0
    taken: int = 0
    too_much: int = 0
    lost: list[str] = field(default_factory=list)

    def offer(self, number: int, result: ConversationResult) -> None:
        """Takes the conversation in if there is room."""
        size = result.duration_s * CLIP_BYTES_PER_S * BASE64_GROWTH
        if self.expected_bytes + size > self.limit_bytes:
            self.too_much += 1
            return
        self.expected_bytes += size
        self.wanted.append(Wanted(number, result.audio, result.user_channel))

    def sounds(self) -> Iterator[tuple[int, Sound]]:
        """Number and sound of each conversation that was taken in; encoded on all cores, given in order."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(self._read, self.wanted)
            for one, sound in zip(self.wanted, _progress(found, len(self.wanted)), strict=True):
                if isinstance(sound, NoSound):
                    self.lost.append(str(sound))
                    continue
                self.used_bytes += round(len(sound.opus) * BASE64_GROWTH)
                self.taken += 1
                yield one.number, sound

    def _read(self, one: Wanted) -> Sound | NoSound:
        try:
            return read_sound(one.audio, one.user_channel, self.folders)
        except NoSound as reason:
            return reason

    def told(self) -> str:
        """One line for the page's head, once the sounds were given out."""
        noun = "conversation" if self.taken == 1 else "conversations"
        line = f"{self.taken} {noun}, {self.used_bytes / 1e6:.1f} MB of Ogg-Opus"
        if self.too_much:
            line += f"; {self.too_much} left out by the limit of {self.limit_bytes / 1e6:g} MB"
        if self.lost:
            line += f"; {len(self.lost)} not found or not readable ({self.lost[0]})"
        return line


def _progress(found: Iterator[Sound | NoSound], count: int) -> Iterator[Sound | NoSound]:
    yield from tqdm(found, "report: sound", count, unit="conversation", disable=None)
