"""What a session's transcript holds so far: every word once, in order, whoever tells it and how often.

A transcriber says: here are the words of a channel, and everything that starts before `through_ms` is
told. A transcriber that was killed has a successor that hears some of it again; words from before the
channel's last `through_ms` are dropped and counted, which is what makes "exactly once" hold.

Pure. Refuses to know disks, sockets and who may tell words.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from audio.frames import FRAME_MS
from duet_client.wire import Channel, WireError, Word, write_words
from server.transcripts.agreement import Agreement, Episode

LAST_WORDS = 12
"""So many words of a channel are shown to who attaches: enough for a transcriber to find its place."""
LONGEST_WRITTEN = 40
"""Characters of one word that a model writes; languages without blanks are cut here."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """Of what was told: the words that are new, how many were told before, how far the channel is told."""

    words: tuple[Word, ...]
    repeated: int
    through_ms: int


@dataclass(frozen=True, slots=True)
class Written:
    """A word that the model wrote, with the span of the frames it wrote it in."""

    text: str
    start_ms: int
    end_ms: int


@dataclass(slots=True)
class _Told:
    through_ms: int = 0
    last: deque[Word] = field(default_factory=lambda: deque(maxlen=LAST_WORDS))


class Ledger:
    """One session's words. agreement: whether the agent says what its model writes."""

    def __init__(self) -> None:
        self.agreement = Agreement()
        self._told: dict[Channel, _Told] = {"user": _Told(), "agent": _Told()}
        self._writing: Written | None = None
        self._disagreements: list[Episode] = []

    def append(self, channel: Channel, words: Sequence[Word], through_ms: int) -> Accepted:
        """Words in order of their start, none of which starts at `through_ms` or later.

        Raises:
            WireError: out_of_order where `through_ms` goes back, invalid_value where the words are not
                in order or start too late. Nothing is taken then.
        """
        told = self._told[channel]
        if through_ms < told.through_ms:
            raise WireError(
                "out_of_order",
                f"through_ms must not go back: {channel} is told through {told.through_ms}, not {through_ms}",
                "through_ms",
            )
        _check_order(words, through_ms)
        new = tuple(word for word in words if word.start_ms >= told.through_ms)
        told.through_ms = through_ms
        told.last.extend(new)
        if channel == "agent" and (episode := self.agreement.heard(new, through_ms)):
            self._disagreements.append(episode)
        return Accepted(new, len(words) - len(new), through_ms)

    def agent_text(self, frame: int, text: str) -> list[Written]:
        """A piece that the model wrote in this frame; a blank begins a word. Returns the words it ends."""
        done: list[Written] = []
        for at, part in enumerate(text.split(" ")):
            if at:
                done += self.end_of_text()
            if part:
                self._write(part, frame)
            if self._writing and len(self._writing.text) >= LONGEST_WRITTEN:
                done += self.end_of_text()
        return done

    def end_of_text(self) -> list[Written]:
        """The word that was being written, if there is one, is complete."""
        word, self._writing = self._writing, None
        if word is None:
            return []
        self.agreement.wrote(word.text, word.start_ms)
        return [word]

    def disagreements(self) -> list[Episode]:
        """The episodes that have begun since the last call."""
        begun, self._disagreements = self._disagreements, []
        return begun

    def state(self) -> dict[str, Any]:
        """By channel `through_ms` and the `last` words: the transcript of `duet.attached`, as JSON."""
        return {
            channel: {"through_ms": told.through_ms, "last": write_words(tuple(told.last))}
            for channel, told in self._told.items()
        }

    def _write(self, part: str, frame: int) -> None:
        start_ms, end_ms = frame * FRAME_MS, (frame + 1) * FRAME_MS
        if self._writing is None:
            self._writing = Written(part, start_ms, end_ms)
        else:
            self._writing = Written(self._writing.text + part, self._writing.start_ms, end_ms)


def _check_order(words: Sequence[Word], through_ms: int) -> None:
    before = 0
    for at, word in enumerate(words):
        if word.start_ms < before:
            raise WireError(
                "invalid_value",
                f"words must be in the order of their start: {word.start_ms} follows {before}",
                f"words.{at}.start_ms",
            )
        before = word.start_ms
    if words and before >= through_ms:
        raise WireError(
            "invalid_value",
            f"every word must start before through_ms {through_ms}, not at {before}",
            f"words.{len(words) - 1}.start_ms",
        )
