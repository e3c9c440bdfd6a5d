"""Text tokens to words: one piece a frame, bytes gathered until they make a character.

Refuses to know frames and tensors.
"""

from __future__ import annotations

import codecs
import re
from typing import Protocol

_SPACE_MARK = "\u2581"
_BYTE_PIECE = re.compile(r"<0x([0-9A-F]{2})>")


class Vocabulary(Protocol):
    """What a text tokenizer must tell."""

    def piece(self, token: int) -> str | None:
        """The sentencepiece of a token; None for padding and control tokens, which say nothing."""


class TextDecoder:
    """One session's running text. Byte pieces wait until their UTF-8 character is whole."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._bytes = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """The text this token adds; a word's first piece brings its leading space."""
        piece = self._vocabulary.piece(token)
        if piece is None:
            return ""
        if byte := _BYTE_PIECE.fullmatch(piece):
            return self._bytes.decode(bytes([int(byte[1], 16)]))
        broken = self._bytes.decode(b"", final=True)
        self._bytes.reset()
        return broken + piece.replace(_SPACE_MARK, " ")
