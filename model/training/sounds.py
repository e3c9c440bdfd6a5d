"""What words sound like, as phonemes: espeak-ng's, one word at a time, without stress and length.

Voices share phonemes where they do not share words, so a model that must tell phonemes understands words
that it has heard from few. Refuses to know models.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from model.config import ModelError

PHONEMES = "ɪtndɹslkɛiməpʊazɚæebʌwofʃɑŋɔvuɡhʒɾᵻɜjθðɐʔɒ"
AT_ONCE = 100
TIMEOUT_S = 30
_NUMBER = {phoneme: number for number, phoneme in enumerate(PHONEMES)}


class Pronunciation:
    """Asks espeak-ng for each word once."""

    def __init__(self) -> None:
        self._known: dict[str, list[int]] = {}

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of each plain text's phonemes, in order. Raises ModelError."""
        new = sorted({word for text in texts for word in text.split()} - self._known.keys())
        for start in range(0, len(new), AT_ONCE):
            self._ask(new[start : start + AT_ONCE])
        return [[number for word in text.split() for number in self._known[word]] for text in texts]

    def _ask(self, words: list[str]) -> None:
        """Every sentence is a clause of its own."""
        lines = clauses("".join(f"{word}.\n" for word in words), "en-us")
        if len(lines) != len(words):
            raise ModelError(f"espeak-ng told {len(lines)} words of {len(words)} from {words[0]!r} on")
        for word, line in zip(words, lines, strict=True):
            self._known[word] = [_NUMBER[symbol] for symbol in line if symbol in _NUMBER]


def clauses(text: str, accent: str) -> list[str]:
    """English in IPA, clause by clause. Raises ModelError."""
    command = ["espeak-ng", "-q", "--ipa", "-v", accent, text]
    try:
        done = subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise ModelError(f"espeak-ng failed: {error}") from error
    return [line.strip() for line in done.stdout.decode().splitlines() if line.strip()]
