"""The agent's inner text: its small vocabulary of pieces, and where each piece stands in time.

Moshi's convention (https://arxiv.org/abs/2410.00037, section 3.4.4): a word's first piece stands in
the frame in which the word begins, padding everywhere else, end-of-padding just before a word.
Pure but for the training of the pieces. Refuses to know sound.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import sentencepiece

from audio.frames import FRAME_RATE

END_OF_PADDING = 0
PADDING = 3
PIECES = 640

Tokens = npt.NDArray[np.int16]


def train_pieces(texts: Iterable[str], pieces: int = PIECES) -> bytes:
    """A sentencepiece model with moshi's ids: 0 end-of-padding (and unknown), 3 padding."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=model,
        vocab_size=pieces,
        model_type="bpe",
        character_coverage=1.0,
        unk_id=END_OF_PADDING,
        bos_id=1,
        eos_id=2,
        pad_id=PADDING,
        minloglevel=2,
    )
    return model.getvalue()


def open_pieces(model: bytes) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def lay(words: Sequence[Sequence[int]], starts_s: Sequence[float], frames: int) -> Tokens:
    """The pieces of each word from the frame it begins in: int16 [frames].

    A word whose frame is taken waits for the next free one; what finds no room is left out.
    """
    laid = np.full(frames, PADDING, np.int16)
    free = 0
    for pieces, start_s in zip(words, starts_s, strict=True):
        first = max(free, int(start_s * FRAME_RATE))
        if free <= first - 1 < frames:
            laid[first - 1] = END_OF_PADDING
        for at, piece in enumerate(pieces, first):
            if at < frames:
                laid[at] = piece
        free = first + len(pieces)
    return laid
