"""A whole step of the language model over some rows, as one kernel: tokens in, tokens out.

Refuses to know sessions. Sheets, int64: a head's: norm, weight, bias or 0. A step's of the depformer: the
stack, the past, where the last token's embeddings lie, which part of the projection is its input, head. The
language's: dim, tables, where they lie, float32 [sum of cards, dim], and each one's first row, int64
[tables]; stack; head of text; projection; the depformer's dim, steps, where the steps' sheets lie; the
greatest number of tokens.
"""

from __future__ import annotations

from model.compact.kernels.attention import total
from model.compact.kernels.compiler import helper
from model.compact.kernels.draws import draw
from model.compact.kernels.kernel import Kernel
from model.compact.kernels.memory import at, floats, ints, set_at
from model.compact.kernels.norms import normalise
from model.compact.kernels.products import add_rows, multiply
from model.compact.kernels.stack import go_through


@helper
def _embed(language: int, memory: int, read: int, rows: int, x: int) -> None:
    """x [rows, dim]: the sum of the embeddings of tokens that lie in memory at read, int64 [rows, tables]."""
    dim, tables, firsts = at(language, 0), at(language, 1), ints(at(language, 3), at(language, 1))
    for row in range(rows):
        line, places = floats(x + 4 * dim * row, dim), ints(read + 8 * tables * row, tables)
        for j in range(dim):
            line[j] = 0
        for i in range(tables):
            token = at(memory, places[i])
            embedding = floats(at(language, 2) + 4 * dim * (firsts[i] + token), dim)
            for j in range(dim):
                line[j] += embedding[j]


@helper
def _head(head: int, x: int, dim: int, rows: int, logits: int) -> int:
    """logits [rows, card] of x [rows, dim], which is normed in place. Returns card."""
    card: int = at(at(head, 1), 2)
    normalise(at(head, 0), x, rows, x)
    multiply(at(head, 1), x, 4 * dim, rows, logits, 4 * card)
    if at(head, 2):
        add_rows(logits, rows, card, at(head, 2), 0)
    return card


@helper
def _depformer(
    language: int, draws: int, hidden: int, rows: int, tokens: int, totals: int, room: int
) -> None:
    """hidden [rows, dim]; draws every book's token into tokens, int64 [rows, 1 + steps]."""
    dim, steps = at(language, 7), at(language, 8)
    parts = at(at(language, 6), 2)
    inputs, x = room, room + 4 * parts * rows
    logits = x + 4 * dim * rows
    spare = logits + 4 * at(language, 10) * rows
    multiply(at(language, 6), hidden, 4 * at(language, 0), rows, inputs, 4 * parts)
    all_tokens, card = ints(tokens, rows * (1 + steps)), 0
    for step in range(steps):
        what = at(at(language, 9), step)
        for row in range(rows):
            line = floats(x + 4 * dim * row, dim)
            part = floats(inputs + 4 * (parts * row + dim * at(what, 3)), dim)
            last = floats(at(what, 2) + 4 * dim * all_tokens[row * (1 + steps) + step], dim)
            for j in range(dim):
                line[j] = part[j] + last[j]
        go_through(at(what, 0), at(what, 1), x, rows, 1, spare)
        card = _head(at(what, 4), x, dim, rows, logits)
        draw(draws, step, logits, rows, tokens + 8 * (1 + step), 8 * (1 + steps), spare)
    sums = floats(totals, rows)
    for row in range(rows):
        sums[row] += total(floats(logits + 4 * card * row, card))


def _think(address: int) -> None:
    """(language's sheet, past's sheet, draws of text and of audio, rows, memory, read, wrote, answer; then
    condition [rows, dim] or 0; x [rows, dim], tokens and answers, int64 [rows, 1 + steps], totals [rows],
    room)
    """
    language, rows, memory, x = at(address, 0), at(address, 4), at(address, 5), at(address, 10)
    tokens, room = at(address, 11), at(address, 14)
    dim, written = at(language, 0), 1 + at(language, 8)
    _embed(language, memory, at(address, 6), rows, x)
    if at(address, 9):
        add_rows(x, rows, dim, at(address, 9), 4 * dim)
    go_through(at(language, 4), at(address, 1), x, rows, 1, room)
    card, sums = _head(at(language, 5), x, dim, rows, room), floats(at(address, 13), rows)
    for row in range(rows):
        sums[row] = total(floats(room + 4 * card * row, card))
    draw(at(address, 2), 0, room, rows, tokens, 8 * written, room + 4 * card * rows)
    _depformer(language, at(address, 3), x, rows, tokens, at(address, 13), room)
    for i in range(rows * written):
        set_at(memory, at(at(address, 7), i), at(tokens, i))
    for i in range(rows * written):
        set_at(at(address, 12), i, at(memory, at(at(address, 8), i)))


think = Kernel(_think)
