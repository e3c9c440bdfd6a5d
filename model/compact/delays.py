"""Which codebook is delayed by how much: where each frame's tokens are written and read.

moshi shifts its codebooks against each other (models/lm.py, LMGen._step). A token of frame f of the
user enters the model at step f + delay; what the model wrote at one step it hears at the next; a
frame's answer gathers, for every book, the step that wrote its part. Pure integer books on the host;
the tokens themselves stay where the model is, in one flat memory:
[slots, books, steps kept], then one row of start tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.compact.feed import Host, Ints, Shape


class DelayedBooks:
    """delays: of each book, text first, then the agent's, then the user's. agent_books: without text.

    Steps are kept in turn, so that all addresses come round: they are tables with a row for each turn.
    """

    def __init__(self, delays: Sequence[int], agent_books: int, slots: int) -> None:
        self.agent_books = agent_books
        books, written, self._longest = len(delays), 1 + agent_books, max(delays)
        kept = self._kept = self._longest + 2
        self._slot = books * kept
        self.memory_size = slots * self._slot + books
        turn, first, behind = np.arange(kept)[:, None], np.arange(books) * kept, np.array(delays)
        self._read = np.roll(first + turn, -1, axis=1)  # text last
        self._wrote = (first + (turn + 1) % kept)[:, :written]
        self._heard = (first + (turn + behind) % kept)[:, written:]
        self._answer = (first + (turn + 1 + behind - self._longest) % kept)[:, :written]
        self._starts = np.roll(self.memory_size - books + np.arange(books), -1)
        self._start_frames = np.roll(behind, -1)

    def shapes_heard(self, n: int) -> dict[str, Shape]:
        return {"heard": (n, self._heard.shape[1])}

    def shapes(self, n: int) -> dict[str, Shape]:
        return {"read": (n, len(self._starts)), "wrote": (n, 1 + self.agent_books)}

    def shapes_answer(self, n: int) -> dict[str, Shape]:
        return {"answer": (n, 1 + self.agent_books)}

    def fill_heard(self, host: Host, rows: Ints, frames: Ints) -> None:
        """heard: where the user's tokens of these frames go, in the flat memory."""
        np.add(self._heard[frames % self._kept], self._firsts(rows), out=host["heard"])

    def fill(self, host: Host, rows: Ints, frames: Ints) -> None:
        """read: the model's input at these frames (int64 [n]), text last. wrote: where its tokens go."""
        turns, firsts = frames % self._kept, self._firsts(rows)
        np.add(self._read[turns], firsts, out=host["read"])
        np.add(self._wrote[turns], firsts, out=host["wrote"])
        if frames.min() <= self._longest:
            np.copyto(host["read"], self._starts, where=frames[:, None] <= self._start_frames)

    def fill_answer(self, host: Host, rows: Ints, frames: Ints) -> None:
        """answer: what the frames' answers are gathered from; meaningless below the lag."""
        np.add(self._answer[frames % self._kept], self._firsts(rows), out=host["answer"])

    def _firsts(self, rows: Ints) -> Ints:
        """Where each row's books begin: int64 [n, 1]."""
        firsts: Ints = rows[:, None] * self._slot
        return firsts
