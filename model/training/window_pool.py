"""Training windows in memory, the least used first; takes in those that are made meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import sentencepiece
import torch

from model.training.lm_learner import LmBatch
from model.training.texts import plain
from model.training.windows import Window


class WindowPool:
    """Reads a folder again when told to. pronounce: from plain texts to the numbers of their phonemes."""

    def __init__(
        self,
        folder: Path,
        pieces: sentencepiece.SentencePieceProcessor,
        pronounce: Callable[[Sequence[str]], list[list[int]]],
    ) -> None:
        self._folder, self._pieces = folder, pieces
        self._known: set[str] = set()
        self._windows: list[Window] = []
        self._words: list[list[int]] = []
        self._sounds: list[list[int]] = []
        self._pronounce = pronounce
        self._uses: npt.NDArray[np.int64] = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._windows)

    def refresh(self) -> None:
        new = sorted(path for path in self._folder.glob("window-*.npz") if path.name not in self._known)
        windows = [Window.read(path) for path in new]
        texts = [plain(window.words) for window in windows]
        self._known.update(path.name for path in new)
        self._windows += windows
        self._words += [self._pieces.encode(text) for text in texts]
        self._sounds += self._pronounce(texts)
        self._uses = np.concatenate([self._uses, np.zeros(len(self._windows) - len(self._uses), np.int64)])

    def spend(self, rows: int) -> None:
        """As if so many rows had been drawn already: a resumed run goes on with what is new."""
        self._uses += rows // max(1, len(self._uses))

    def draw(self, random: np.random.Generator, rows: int) -> LmBatch:
        """`rows` windows among the least used."""
        order = np.lexsort((random.random(len(self._uses)), self._uses))[:rows]
        self._uses[order] += 1
        picked = [self._windows[index] for index in order]
        words, sounds = ([kept[index] for index in order] for kept in (self._words, self._sounds))
        codes = [np.concatenate([item.text[None], item.agent, item.user]) for item in picked]
        return LmBatch(
            codes=torch.from_numpy(np.stack(codes).astype(np.int64)),
            marks=torch.from_numpy(np.stack([item.marks for item in picked]).astype(np.int64)),
            labels=torch.from_numpy(np.stack([item.labels for item in picked]).astype(np.int64)),
            words=torch.tensor(sum(words, []), dtype=torch.long),
            lengths=torch.tensor([len(row) for row in words]),
            sounds=torch.tensor(sum(sounds, []), dtype=torch.long),
            sound_lengths=torch.tensor([len(row) for row in sounds]),
        )
