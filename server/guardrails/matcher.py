"""One rule on one stream of words: tells when its match is complete, once each.

Words come one by one, so that what fires does not depend on how the text was cut into fragments. The
text kept is bounded. Refuses to know frames and what follows from a match.
"""

from __future__ import annotations

from server.guardrails.rules import MOST_CHARACTERS, Find


class Matcher:
    """What overlaps a match that was told is not told: a longer one that grows out of it, another beside."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._text = ""
        self._start = self._end = 0  # of the last match that was told, in the text

    def word(self, word: str, whole: bool = True) -> str | None:
        """The match that this word completes, if there is one.

        whole: False for a word that may still grow; it is looked at, and comes again.
        """
        text = f"{self._text} {word}" if self._text else word
        found = None
        for start, end in self._find(text, self._start):
            if start >= self._end and end > start:
                found = text[start:end]
                self._start, self._end = start, end
            elif start == self._start:
                self._end = max(self._end, end)
        if whole:
            self._keep(text)
        return found

    def _keep(self, text: str) -> None:
        """The last MOST_CHARACTERS, from a word's beginning on."""
        cut = text.find(" ", len(text) - MOST_CHARACTERS) + 1 if len(text) > MOST_CHARACTERS else 0
        self._text = text[cut:]
        self._end = max(0, self._end - cut)
        self._start = self._start - cut if self._start >= cut else self._end
