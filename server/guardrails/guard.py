"""The rules at work in one session: text and words in, verdicts out. Pure.

Refuses to know what a verdict leads to (`server.guardrails.delivery`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from audio.frames import FRAME_MS
from duet_client.wire import Word
from server.guardrails.matcher import Matcher
from server.guardrails.rules import LISTENS, Listen, Rule, Rules
from server.guardrails.words import WordStream, words_of


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's match. frame: of the session, where it was complete. text: the words, normalised."""

    rule: Rule
    listen: Listen
    frame: int
    text: str


class Guard:
    """One session's."""

    def __init__(self, rules: Rules) -> None:
        self._ears = {
            listen: [(rule, Matcher(rule.find)) for rule in rules.listening(listen)] for listen in LISTENS
        }
        self._stream = WordStream()
        self._looked = True

    def agent_text(self, frame: int, text: str) -> list[Verdict]:
        """What the model wrote in this frame; call it for a frame without text too.

        A word is whole once another begins or a frame brings no text: a model writes a word's pieces in
        frames that follow each other. Should the word go on all the same, it is looked at again.
        """
        if text:
            self._looked = False
            return self._heard("agent_text", frame, self._stream.push(text))
        if self._looked or not self._stream.open:
            return []
        self._looked = True
        return self._heard("agent_text", frame, [self._stream.open], whole=False)

    def words(self, listen: Listen, words: Iterable[Word]) -> list[Verdict]:
        """What the transcriber heard."""
        return [
            verdict
            for word in words
            for verdict in self._heard(listen, word.end_ms // FRAME_MS, words_of(word.word))
        ]

    def _heard(self, listen: Listen, frame: int, words: list[str], whole: bool = True) -> list[Verdict]:
        return [
            Verdict(rule, listen, frame, found)
            for word in words
            for rule, matcher in self._ears[listen]
            if (found := matcher.word(word, whole))
        ]
